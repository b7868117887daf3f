#include "command_line/secret_arguments.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace gridmount::command_line {

namespace {

void cross_out(char* begin, size_t bytes) {
  std::fill_n(begin, bytes, 'x');
}

// Crosses out the value of an option, which ends where the next option begins. Drivers ignore the
// case of names of options.
void hide_option(char* argument, std::string_view option) {
  std::string text(argument);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  const size_t found = text.find(option);
  if (found == std::string::npos) return;
  const size_t begin = found + option.size();
  const size_t end = std::min(text.find_first_of("&,", begin), text.size());
  cross_out(argument + begin, end - begin);
}

// Crosses out the secrets in a URI. In "...//user:password@hosts", the password ends at the last @
// before the path.
void hide_in_uri(char* argument) {
  const std::string_view text(argument);
  const size_t scheme = text.find("mongodb");
  const size_t begin = text.find("//", scheme);
  if (scheme == std::string_view::npos || begin == std::string_view::npos) return;
  for (const std::string_view option : {"tlscertificatekeyfilepassword=", "aws_session_token:"}) {
    hide_option(argument, option);
  }
  const size_t at = text.substr(0, text.find('/', begin + 2)).rfind('@');
  const size_t colon = text.find(':', begin);
  if (at == std::string_view::npos || colon >= at) return;
  cross_out(argument + colon + 1, at - colon - 1);
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
