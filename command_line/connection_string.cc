#include "command_line/connection_string.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "engine/base/hex.h"

namespace gridmount::command_line {

namespace {

constexpr std::string_view kScheme = "mongodb://";
constexpr std::string_view kSeedListScheme = "mongodb+srv://";

// The positions of the user, the hosts and the rest in a URI. All are npos if there is no "//".
struct UriParts {
  size_t begin = std::string_view::npos;  // after "//"
  size_t at = std::string_view::npos;     // of the '@' after the user, if there is one
  size_t end = std::string_view::npos;    // of the hosts
};

UriParts parts_of(std::string_view uri) {
  UriParts parts;
  const size_t slashes = uri.find("//");
  if (slashes == std::string_view::npos) return parts;
  parts.begin = slashes + 2;
  parts.end = uri.find_first_of("/?", parts.begin);
  // The password ends at the last '@' before the path. A '/' or '?' in the password must be
  // escaped.
  parts.at = uri.substr(0, parts.end).rfind('@');
  if (parts.at != std::string_view::npos && parts.at < parts.begin) {
    parts.at = std::string_view::npos;
  }
  return parts;
}

// Returns true if the text, which comes before a '?', ends with hosts, or with hosts and a path:
// "a:27017,b/db". What comes after the ':' of a host is a number. Without a user or a path, the
// host must have no port, because "me:123" may be a user and the beginning of a password.
bool ends_with_hosts(std::string_view text) {
  const size_t at = text.rfind('@');
  const bool has_user = at != std::string_view::npos;
  if (has_user) text.remove_prefix(at + 1);
  const size_t slash = text.find('/');
  const std::string_view hosts = text.substr(0, slash);
  const bool has_port = hosts.find(':') != std::string_view::npos;
  if (hosts.empty() || (has_port && !has_user && slash == std::string_view::npos)) return false;
  bool is_port = false;
  bool is_address = false;  // of IPv6: "[::1]"
  for (const char letter : hosts) {
    if (letter == '[' || letter == ']') {
      is_address = letter == '[';
    } else if (is_address) {
      continue;
    } else if (letter == ':') {
      is_port = true;
    } else if (letter == ',') {
      is_port = false;
    } else if (is_port && (letter < '0' || letter > '9')) {
      return false;
    }
  }
  return true;
}

// Returns where the options begin in what follows the "//", or npos. Their first name ends with a
// '='. If a '@' comes later, the '?' belongs to a password, unless it comes after hosts.
size_t begin_of_options(std::string_view text) {
  for (size_t mark = text.find('?'); mark != std::string_view::npos;
       mark = text.find('?', mark + 1)) {
    const size_t after_name = text.find_first_of("=@", mark);
    if (after_name == std::string_view::npos) return mark;
    if (text[after_name] == '@') continue;
    const bool has_at = text.find('@', mark) != std::string_view::npos;
    if (!has_at || ends_with_hosts(text.substr(0, mark))) return mark;
  }
  return std::string_view::npos;
}

}  // namespace

bool is_connection_string(std::string_view text) {
  return text.starts_with(kScheme) || text.starts_with(kSeedListScheme);
}

Status check_connection_string(std::string_view text) {
  const bool is_meant = text.starts_with("mongodb:") || text.starts_with("mongodb+srv:");
  if (!is_meant || is_connection_string(text)) return {};
  return fail(ErrorCode::kBadValue,
              "STORE: a connection string begins with mongodb:// or mongodb+srv://");
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char character : text) {
    const auto byte = static_cast<uint8_t>(character);
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                          (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_' ||
                          byte == '.' || byte == '~';
    if (is_plain) {
      encoded += character;
    } else {
      encoded += '%';
      append_hex(encoded, byte, HexDigits::kUpper);
    }
  }
  return encoded;
}

std::string uri_of_socket(std::string_view path) {
  return std::string(kScheme) + percent_encoded(path);
}

std::string_view user_and_password(std::string_view uri) {
  const size_t begin = parts_of(uri).begin;
  if (begin == std::string_view::npos) return {};
  const std::string_view text = uri.substr(begin);
  const size_t at = text.substr(0, begin_of_options(text)).rfind('@');
  return at == std::string_view::npos ? std::string_view() : text.substr(0, at);
}

std::string without_secrets(std::string_view uri) {
  const std::string_view user = user_and_password(uri);
  std::string plain(uri);
  if (!user.empty()) plain.erase(static_cast<size_t>(user.data() - uri.data()), user.size() + 1);
  return plain.substr(0, plain.find('?'));
}

bool lacks_password(std::string_view uri) {
  const UriParts parts = parts_of(uri);
  if (parts.at == std::string_view::npos) return false;
  if (uri.substr(parts.begin, parts.at - parts.begin).find(':') != std::string_view::npos) {
    return false;
  }
  // Drivers ignore the case of names of options.
  std::string options(uri.substr(std::min(parts.end, uri.size())));
  std::transform(options.begin(), options.end(), options.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  for (const std::string_view mechanism : {"mongodb-x509", "gssapi", "mongodb-aws"}) {
    if (options.find("authmechanism=" + std::string(mechanism)) != std::string::npos) return false;
  }
  return true;
}

std::string with_password(std::string_view uri, std::string_view password) {
  const UriParts parts = parts_of(uri);
  std::string full(uri);
  if (parts.at != std::string_view::npos) full.insert(parts.at, ":" + percent_encoded(password));
  return full;
}

}  // namespace gridmount::command_line
