#include "tools/quoted.h"

#include <bson/bson.h>

#include <cctype>
#include <system_error>

#include "engine/base/hex.h"

namespace gridmount::tools {

namespace {

// Does what Go's strconv.CanBackquote does: returns true for valid UTF-8 on one line without
// backquotes, byte order marks, and control characters other than tab.
bool can_backquote(std::string_view text) {
  if (!bson_utf8_validate(text.data(), text.size(), /*allow_null=*/false)) return false;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && byte != '\t') || byte == '`' || byte == 0x7f) return false;
  }
  return text.find("\xEF\xBB\xBF") == std::string_view::npos;
}

void append_escaped_byte(std::string& out, unsigned char byte) {
  out += "\\x";
  append_hex(out, byte);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  if (can_backquote(text)) return "`" + std::string(text) + "`";
  bool is_utf8 = bson_utf8_validate(text.data(), text.size(), /*allow_null=*/true);
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\a':
        out += "\\a";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\v':
        out += "\\v";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      default:
        if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8)) {
          append_escaped_byte(out, byte);
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

std::string quoted_list(std::span<const std::string> texts) {
  std::string list;
  for (const std::string& text : texts) {
    if (!list.empty()) list += ", ";
    list += in_quotes(text);
  }
  return list;
}

std::string system_error_text(std::string_view operation, std::string_view name, int error_number) {
  std::string cause = std::generic_category().message(error_number);
  if (!cause.empty()) cause[0] = static_cast<char>(std::tolower(cause[0]));
  return std::string(operation) + " " + std::string(name) + ": " + cause;
}

}  // namespace gridmount::tools
