#include "engine/query/pipeline/value_key.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/bson/compare.h"
#include "engine/bson/document.h"
#include "engine/bson/number.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

// Ends a document or an array; the tags of values are greater.
constexpr char kEnd = 0;
constexpr char kInexactNumber = 2;
// Makes the least canonical order, -1, greater than the two above.
constexpr int kTagOffset = 4;

// Integers of up to this magnitude are doubles.
constexpr int64_t kExactMax = int64_t{1} << 53;

template <typename T>
void append_fixed(std::string& key, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  key.append(bytes, sizeof value);
}

void append_text(std::string& key, std::string_view text) {
  append_fixed(key, static_cast<uint32_t>(text.size()));
  key.append(text);
}

void append_double(std::string& key, double value) {
  // All NaN are one, and so are both zeros.
  append_fixed(key, std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0);
}

void append_number(std::string& key, ValueView value) {
  switch (value.type()) {
    case Type::kInt32:
      return append_fixed(key, static_cast<double>(value.as_int32()));
    case Type::kDouble:
      return append_double(key, value.as_double());
    case Type::kInt64:
      if (const int64_t number = value.as_int64(); number >= -kExactMax && number <= kExactMax) {
        return append_fixed(key, static_cast<double>(number));
      }
      break;
    default:
      break;
  }
  if (bson::is_exact_double(value)) return append_double(key, bson::floor_to_double(value));
  key.back() = kInexactNumber;
  append_double(key, bson::floor_to_double(value));
  const auto bytes = bson::decimal_sort_bytes(value);
  key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void append_elements(std::string& key, bson::View elements, bool with_names) {
  for (const bson::Element element : elements) {
    append_value_key(key, element.value);
    if (!with_names) continue;
    key.append(element.key);
    key.push_back('\0');
  }
  key.push_back(kEnd);
}

}  // namespace

void append_value_key(std::string& key, ValueView value) {
  key.push_back(static_cast<char>(bson::canonical_order(value.type()) + kTagOffset));
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
      return append_number(key, value);
    case Type::kString:
    case Type::kSymbol:
    case Type::kCode:
      return append_text(key, value.as_string());
    case Type::kDocument:
      return append_elements(key, value.as_document(), true);
    case Type::kArray:
      return append_elements(key, value.as_document(), false);
    case Type::kBinary: {
      const bson::Binary binary = value.as_binary();
      key.push_back(static_cast<char>(binary.subtype));
      return append_text(key, {reinterpret_cast<const char*>(binary.data), binary.size});
    }
    case Type::kBool:
      return key.push_back(value.as_bool() ? 1 : 0);
    case Type::kRegex: {
      const bson::Regex regex = value.as_regex();
      append_text(key, regex.pattern);
      return append_text(key, regex.options);
    }
    case Type::kDbPointer:
    case Type::kCodeWithScope:
      return append_text(key, {reinterpret_cast<const char*>(value.data()), value.size()});
    case Type::kObjectId:
    case Type::kDate:
    case Type::kTimestamp:
      key.append(reinterpret_cast<const char*>(value.data()), value.size());
      return;
  }
}

uint64_t hash_of_key(std::string_view key) {
  // Eight bytes at a time, each mixed in by a multiplication whose high half is folded back.
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  uint64_t hash = key.size() * kFactor;
  const char* at = key.data();
  size_t left = key.size();
  while (left > 0) {
    uint64_t word = 0;
    const size_t step = left < sizeof word ? left : sizeof word;
    std::memcpy(&word, at, step);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
    at += step;
    left -= step;
  }
  hash *= 0xD6E8FEB86659FD93;
  return hash ^ hash >> 32;
}

}  // namespace gridmount::query
