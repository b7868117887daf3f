#include "engine/base/log_text.h"

#include <bson/bson.h>

#include "engine/base/hex.h"

namespace gridmount {

namespace {

constexpr unsigned char kLeadOfC1 = 0xc2;  // C1 characters are two bytes in UTF-8, C2 80 to C2 9F

bool is_c1(unsigned char byte) {
  return byte >= 0x80 && byte < 0xa0;
}

void append_escaped(std::string& out, unsigned char byte) {
  out += "\\x";
  append_hex(out, byte);
}

}  // namespace

std::string log_text(std::string_view text) {
  const bool is_utf8 = bson_utf8_validate(text.data(), text.size(), /*allow_null=*/true);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\r') {
      out += "\\r";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8)) {
      append_escaped(out, byte);
    } else if (byte == kLeadOfC1 && is_c1(static_cast<unsigned char>(text[i + 1]))) {
      append_escaped(out, static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace gridmount
