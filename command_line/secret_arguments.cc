#include "command_line/secret_arguments.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "command_line/connection_string.h"

namespace gridmount::command_line {

namespace {

void cross_out(char* begin, size_t bytes) {
  std::fill_n(begin, bytes, 'x');
}

// Options of a URI that have a secret as their value, in lower case, because drivers ignore the
// case of names. libmongoc still takes the second name for the first one.
constexpr std::string_view kSecretOptions[] = {
    "tlscertificatekeyfilepassword=", "sslclientcertificatekeypassword=", "aws_session_token:"};

// Crosses out the values of all options of that name. A value ends where the next option begins.
void hide_option(char* argument, std::string_view option) {
  std::string text(argument);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  for (size_t found = text.find(option); found != std::string::npos;) {
    const size_t begin = found + option.size();
    const size_t end = std::min(text.find_first_of("&,", begin), text.size());
    cross_out(argument + begin, end - begin);
    found = text.find(option, end);
  }
}

void hide_in_uri(char* argument) {
  const std::string_view text(argument);
  const size_t scheme = text.find("mongodb");
  if (scheme == std::string_view::npos) return;
  const std::string_view user = user_and_password(text.substr(scheme));
  const size_t colon = user.find(':');
  for (const std::string_view option : kSecretOptions) hide_option(argument, option);
  if (colon == std::string_view::npos) return;
  const std::string_view password = user.substr(colon + 1);
  cross_out(argument + (password.data() - text.data()), password.size());
}

}  // namespace

void hide_secrets(std::span<char*> arguments, std::span<const std::string> secrets) {
  for (char* const argument : arguments) {
    const std::string_view text(argument);
    for (const std::string& secret : secrets) {
      // "SECRET", "--password=SECRET", "-pSECRET".
      const bool is_attached = text.starts_with('-') && text.ends_with(secret);
      if (text != secret && !is_attached) continue;
      cross_out(argument + text.size() - secret.size(), secret.size());
    }
    hide_in_uri(argument);
  }
}

}  // namespace gridmount::command_line
