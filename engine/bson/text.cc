#include "engine/bson/text.h"

#include <bson/bson.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "engine/base/hex.h"

namespace gridmount::bson {
namespace {

constexpr int kDepthMax = 100;
// A value longer than k...Whole is truncated to k...Shown bytes.
constexpr size_t kStringShown = 150;
constexpr size_t kStringWhole = 159;
constexpr size_t kCodeShown = 70;
constexpr size_t kCodeWhole = 79;
constexpr size_t kBinaryShown = 70;
constexpr size_t kBinaryWhole = 80;
constexpr uint8_t kUuid = 4;

void put_hex(std::string& out, const uint8_t* data, size_t size, HexDigits digits) {
  out += to_hex(std::span(data, size), digits);
}

// Adds a decimal point, so that the number is recognizable as a double. Servers do this for 1e+20
// and nan as well.
void put_double(std::string& out, double value) {
  char text[40];
  const int size = std::snprintf(text, sizeof text, "%.16g", value);
  const std::string_view shown(text, static_cast<size_t>(size));
  out += shown;
  if (shown.find_first_of(".EN") == std::string_view::npos) out += ".0";
}

void put_string(std::string& out, std::string_view text) {
  out += '"';
  if (text.size() > kStringWhole) {
    out.append(text.substr(0, kStringShown)).append("...");
  } else {
    out += text;
  }
  out += '"';
}

void put_code(std::string& out, std::string_view code) {
  if (code.size() > kCodeWhole) {
    out.append(code.substr(0, kCodeShown)).append("...");
  } else {
    out += code;
  }
}

void put_binary(std::string& out, const Binary& binary) {
  if (binary.subtype == kUuid && binary.size == 16) {
    out += "UUID(\"";
    size_t at = 0;
    for (const size_t part : {4, 2, 2, 2, 6}) {
      if (at > 0) out += '-';
      put_hex(out, binary.data + at, part, HexDigits::kLower);
      at += part;
    }
    out += "\")";
    return;
  }
  out += "BinData(" + std::to_string(binary.subtype) + ", ";
  if (binary.size > kBinaryWhole) {
    put_hex(out, binary.data, kBinaryShown, HexDigits::kUpper);
    out += "...)";
  } else {
    put_hex(out, binary.data, binary.size, HexDigits::kUpper);
    out += ')';
  }
}

void put_decimal(std::string& out, Decimal128 value) {
  bson_decimal128_t decimal;
  decimal.low = value.low;
  decimal.high = value.high;
  char text[BSON_DECIMAL128_STRING];
  bson_decimal128_to_string(&decimal, text);
  out += text;
}

// Reads a length, which counts the NUL at the end, and the text.
std::string_view string_at(const uint8_t* data) {
  uint32_t size = 0;
  std::memcpy(&size, data, sizeof size);
  return {reinterpret_cast<const char*>(data) + sizeof size, size - 1};
}

void put(std::string& out, ValueView value, int depth);

bool is_character(std::string_view bytes) {
  // If NUL is allowed, libbson also accepts the two bytes C0 80 as NUL.
  return bytes == std::string_view("\0", 1) ||
         bson_utf8_validate(bytes.data(), bytes.size(), false);
}

void put_all(std::string& out, View elements, bool is_array, int depth) {
  if (depth > kDepthMax) {
    out += "...";
    return;
  }
  const char* separator = is_array ? "[ " : "{ ";
  for (const Element element : elements) {
    out += separator;
    separator = ", ";
    if (!is_array) out.append(element.key).append(": ");
    put(out, element.value, depth);
  }
  if (elements.empty()) {
    out += is_array ? "[]" : "{}";
  } else {
    out += is_array ? " ]" : " }";
  }
}

void put(std::string& out, ValueView value, int depth) {
  switch (value.type()) {
    case Type::kDouble:
      return put_double(out, value.as_double());
    case Type::kString:
    case Type::kSymbol:
      return put_string(out, value.as_string());
    case Type::kDocument:
    case Type::kArray:
      return put_all(out, value.as_document(), value.type() == Type::kArray, depth + 1);
    case Type::kBinary:
      return put_binary(out, value.as_binary());
    case Type::kUndefined:
      out += "undefined";
      return;
    case Type::kObjectId:
      out += "ObjectId('" + value.as_object_id().hex() + "')";
      return;
    case Type::kBool:
      out += value.as_bool() ? "true" : "false";
      return;
    case Type::kDate:
      out += "new Date(" + std::to_string(value.as_date().milliseconds) + ")";
      return;
    case Type::kNull:
      out += "null";
      return;
    case Type::kRegex: {
      const Regex regex = value.as_regex();
      out.append("/").append(regex.pattern).append("/").append(regex.options);
      return;
    }
    case Type::kDbPointer: {
      // The value is a string, then an ObjectId.
      const std::string_view ns = string_at(value.data());
      out.append("DBRef('").append(ns).append("',");
      put_hex(out, value.data() + 4 + ns.size() + 1, sizeof(ObjectId::Bytes), HexDigits::kLower);
      out += ')';
      return;
    }
    case Type::kCode:
      return put_code(out, value.as_string());
    case Type::kCodeWithScope: {
      // The value is the total length, a string, then a document.
      const std::string_view code = string_at(value.data() + 4);
      const size_t scope = 4 + 4 + code.size() + 1;
      out.append("CodeWScope( ").append(code).append(", ");
      const ValueView document(Type::kDocument, value.data() + scope,
                               value.size() - static_cast<uint32_t>(scope));
      put_all(out, document.as_document(), false, depth + 1);
      out += ')';
      return;
    }
    case Type::kInt32:
      out += std::to_string(value.as_int32());
      return;
    case Type::kTimestamp: {
      const Timestamp timestamp = value.as_timestamp();
      out += "Timestamp(" + std::to_string(timestamp.seconds) + ", " +
             std::to_string(timestamp.increment) + ")";
      return;
    }
    case Type::kInt64:
      out += std::to_string(value.as_int64());
      return;
    case Type::kDecimal128:
      return put_decimal(out, value.as_decimal128());
    case Type::kMaxKey:
      out += "MaxKey";
      return;
    case Type::kMinKey:
      out += "MinKey";
      return;
  }
}

}  // namespace

std::string to_text(ValueView value) {
  std::string out;
  put(out, value, 0);
  return out;
}

std::string_view character_at(std::string_view text, size_t at) {
  constexpr size_t kCharacterMax = 4;
  text = text.substr(std::min(at, text.size()));
  for (size_t size = 1; size <= kCharacterMax && size <= text.size(); ++size) {
    if (is_character(text.substr(0, size))) return text.substr(0, size);
  }
  return text.substr(0, 1);
}

std::string valid_text(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character = character_at(text, 0);
    if (is_character(character)) {
      valid += character;
    } else {
      valid += "\\x";
      valid += to_hex(character);
    }
    text.remove_prefix(character.size());
  }
  return valid;
}

std::string to_text(View document) {
  std::string out;
  put_all(out, document, false, 1);
  return out;
}

}  // namespace gridmount::bson
