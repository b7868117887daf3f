#include "engine/bson/key_string.h"

#include <bit>

#include "engine/base/invariant.h"
#include "engine/bson/document.h"
#include "engine/bson/key_string_bytes.h"
#include "engine/bson/number.h"

namespace gridmount::bson {
namespace {

KeyClass class_of(Type type) {
  switch (type) {
    case Type::kMinKey:
      return kMinKey;
    case Type::kUndefined:
      return kUndefined;
    case Type::kNull:
      return kNull;
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128:
      return kNumber;
    case Type::kString:
    case Type::kSymbol:
      return kString;
    case Type::kDocument:
      return kDocument;
    case Type::kArray:
      return kArray;
    case Type::kBinary:
      return kBinary;
    case Type::kObjectId:
      return kObjectId;
    case Type::kBool:
      return kBool;
    case Type::kDate:
      return kDate;
    case Type::kTimestamp:
      return kTimestamp;
    case Type::kRegex:
      return kRegex;
    case Type::kDbPointer:
      return kDbPointer;
    case Type::kCode:
      return kCode;
    case Type::kCodeWithScope:
      return kCodeWithScope;
    case Type::kMaxKey:
      return kMaxKey;
  }
  return kMaxKey;
}

template <typename Integer>
void append_big_endian(std::string& out, Integer value) {
  char bytes[sizeof(Integer)];
  for (size_t i = 0; i < sizeof(Integer); ++i) {
    bytes[sizeof(Integer) - 1 - i] = static_cast<char>(value >> (8 * i));
  }
  out.append(bytes, sizeof(bytes));
}

// NUL ends the text, so NUL and the escape byte 0x01 are written as two bytes each. The usual "NUL
// as 00 FF, ended by 00" would violate K1: there the encoding of "a" is a prefix of that of "a\0".
void append_text(std::string& out, std::string_view text) {
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (static_cast<uint8_t>(text[i]) <= kTextEscape) {
      out.append(text, start, i - start);
      out.push_back(kTextEscape);
      out.push_back(static_cast<char>(text[i] + 1));
      start = i + 1;
    }
  }
  out.append(text, start, text.size() - start);
  out.push_back(kEnd);
}

void append_double(std::string& out, double value) {
  uint64_t bits = 0;          // NaN sorts below -infinity
  if (value == 0) value = 0;  // -0.0 equals 0.0
  if (value == value) {
    bits = std::bit_cast<uint64_t>(value);
    bits = (bits >> 63) != 0 ? ~bits : bits | (uint64_t{1} << 63);
  }
  append_big_endian(out, bits);
}

void append_number(std::string& out, ValueView value) {
  switch (value.type()) {
    case Type::kInt32:
      append_double(out, value.as_int32());
      out.push_back(kExact);
      return;
    case Type::kDouble:
      append_double(out, value.as_double());
      out.push_back(kExact);
      return;
    case Type::kInt64: {
      // Every integer up to 2^53 is a double.
      const int64_t integer = value.as_int64();
      constexpr int64_t kExactLimit = int64_t{1} << 53;
      if (integer >= -kExactLimit && integer <= kExactLimit) {
        append_double(out, static_cast<double>(integer));
        out.push_back(kExact);
        return;
      }
      break;
    }
    default:
      break;
  }
  append_double(out, floor_to_double(value));
  if (is_exact_double(value)) {
    out.push_back(kExact);
    return;
  }
  out.push_back(kAboveDouble);
  const auto tail = decimal_sort_bytes(value);
  out.append(reinterpret_cast<const char*>(tail.data()), tail.size());
}

void append_body(std::string& out, ValueView value, const StringOrder* strings);

void append_elements(std::string& out, View elements, bool with_names, const StringOrder* strings) {
  for (const Element element : elements) {
    out.push_back(static_cast<char>(class_of(element.value.type())));
    if (with_names) append_text(out, element.key);
    append_body(out, element.value, strings);
  }
  out.push_back(kEnd);
}

// Appends the bytes that follow the class byte.
void append_body(std::string& out, ValueView value, const StringOrder* strings) {
  switch (value.type()) {
    case Type::kMinKey:
    case Type::kMaxKey:
    case Type::kNull:
    case Type::kUndefined:
      return;
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128:
      append_number(out, value);
      return;
    case Type::kString:
    case Type::kSymbol:
      if (strings != nullptr) {
        std::string key;
        strings->append_sort_key(key, value.as_string());
        append_text(out, key);
        return;
      }
      [[fallthrough]];
    case Type::kCode:
      append_text(out, value.as_string());
      return;
    case Type::kDocument:
      append_elements(out, value.as_document(), true, strings);
      return;
    case Type::kArray:
      append_elements(out, value.as_document(), false, strings);
      return;
    case Type::kBinary: {
      const Binary binary = value.as_binary();
      append_big_endian(out, binary.size);
      out.push_back(static_cast<char>(binary.subtype));
      out.append(reinterpret_cast<const char*>(binary.data), binary.size);
      return;
    }
    case Type::kObjectId:
      out.append(reinterpret_cast<const char*>(value.data()), 12);
      return;
    case Type::kBool:
      out.push_back(value.as_bool() ? 1 : 0);
      return;
    case Type::kDate:
      append_big_endian(out,
                        static_cast<uint64_t>(value.as_date().milliseconds) ^ (uint64_t{1} << 63));
      return;
    case Type::kTimestamp: {
      const Timestamp timestamp = value.as_timestamp();
      append_big_endian(out, timestamp.seconds);
      append_big_endian(out, timestamp.increment);
      return;
    }
    case Type::kRegex: {
      const Regex regex = value.as_regex();
      append_text(out, regex.pattern);
      append_text(out, regex.options);
      return;
    }
    case Type::kDbPointer:
    case Type::kCodeWithScope:
      // ValueView has no accessors for these deprecated types, so the key has the length of the
      // value and then its bytes.
      append_big_endian(out, value.size());
      out.append(reinterpret_cast<const char*>(value.data()), value.size());
      return;
  }
}

void complement(std::string& out, size_t start) {
  for (size_t i = start; i < out.size(); ++i) out[i] = static_cast<char>(~out[i]);
}

// Walks an encoding. Every step fails if the bytes end.
class Walker {
 public:
  Walker(std::string_view encoded, bool descending)
      : encoded_(encoded), mask_(descending ? 0xFF : 0x00) {}

  size_t position() const { return position_; }

  bool value() {
    const std::optional<uint8_t> type = byte();
    return type && body(*type, 0);
  }

 private:
  std::optional<uint8_t> byte() {
    if (position_ >= encoded_.size()) return std::nullopt;
    return static_cast<uint8_t>(static_cast<uint8_t>(encoded_[position_++]) ^ mask_);
  }

  bool skip(size_t count) {
    if (encoded_.size() - position_ < count) return false;
    position_ += count;
    return true;
  }

  bool text() {
    const size_t end = encoded_.find(static_cast<char>(mask_), position_);
    if (end == std::string_view::npos) return false;
    position_ = end + 1;
    return true;
  }

  bool sized(size_t additional) {
    uint32_t size = 0;
    for (int i = 0; i < 4; ++i) {
      const std::optional<uint8_t> next = byte();
      if (!next) return false;
      size = size << 8 | *next;
    }
    return skip(size + additional);
  }

  bool elements(bool with_names, uint32_t depth) {
    if (depth > kMaxDepth) return false;
    while (true) {
      const std::optional<uint8_t> type = byte();
      if (!type) return false;
      if (*type == kEnd) return true;
      if (with_names && !text()) return false;
      if (!body(*type, depth)) return false;
    }
  }

  bool body(uint8_t type, uint32_t depth) {
    switch (type) {
      case kMinKey:
      case kUndefined:
      case kNull:
      case kMaxKey:
        return true;
      case kNumber: {
        if (!skip(8)) return false;
        const std::optional<uint8_t> exactness = byte();
        if (!exactness) return false;
        return *exactness == kExact || skip(kDecimalSortBytes);
      }
      case kString:
      case kCode:
        return text();
      case kDocument:
        return elements(true, depth + 1);
      case kArray:
        return elements(false, depth + 1);
      case kBinary:
        return sized(1);
      case kObjectId:
        return skip(12);
      case kBool:
        return skip(1);
      case kDate:
      case kTimestamp:
        return skip(8);
      case kRegex:
        return text() && text();
      case kDbPointer:
      case kCodeWithScope:
        return sized(0);
      default:
        return false;
    }
  }

  std::string_view encoded_;
  uint8_t mask_;
  size_t position_ = 0;
};

}  // namespace

void append_key_string(std::string& out, ValueView value, bool descending,
                       const StringOrder* strings) {
  const size_t start = out.size();
  out.push_back(static_cast<char>(class_of(value.type())));
  append_body(out, value, strings);
  if (descending) complement(out, start);
  GM_COSTLY_INVARIANT("K3", out[start] != '\x00' && out[start] != '\xFF', "a key string");
  // A key string that shows where it ends is not a prefix of another one.
  GM_COSTLY_INVARIANT(
      "K1", key_string_size(std::string_view(out).substr(start), descending) == out.size() - start,
      "a key string of " + std::to_string(out.size() - start) + " bytes");
}

std::optional<size_t> key_string_size(std::string_view encoded, bool descending) {
  Walker walker(encoded, descending);
  if (!walker.value()) return std::nullopt;
  return walker.position();
}

}  // namespace gridmount::bson
