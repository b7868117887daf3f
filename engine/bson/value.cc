#include "engine/bson/value.h"

#include <bson/bson.h>

#include <bit>
#include <cassert>
#include <chrono>
#include <cstring>

#include "engine/bson/document.h"
#include "engine/bson/number.h"

namespace gridmount::bson {
namespace {

// BSON and every supported machine are little-endian, so numbers are copied as they are.
static_assert(std::endian::native == std::endian::little);

template <typename T>
T load(const uint8_t* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

template <typename T>
std::string bytes_of(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string bytes_of_text(std::string_view text) {
  std::string bytes = bytes_of(static_cast<int32_t>(text.size() + 1));
  bytes.reserve(bytes.size() + text.size() + 1);
  bytes.append(text);
  bytes.push_back('\0');
  return bytes;
}

std::string bytes_of_document(View document) {
  return std::string(reinterpret_cast<const char*>(document.data()), document.size());
}

}  // namespace

std::string_view type_alias(Type type) {
  switch (type) {
    case Type::kDouble:
      return "double";
    case Type::kString:
      return "string";
    case Type::kDocument:
      return "object";
    case Type::kArray:
      return "array";
    case Type::kBinary:
      return "binData";
    case Type::kUndefined:
      return "undefined";
    case Type::kObjectId:
      return "objectId";
    case Type::kBool:
      return "bool";
    case Type::kDate:
      return "date";
    case Type::kNull:
      return "null";
    case Type::kRegex:
      return "regex";
    case Type::kDbPointer:
      return "dbPointer";
    case Type::kCode:
      return "javascript";
    case Type::kSymbol:
      return "symbol";
    case Type::kCodeWithScope:
      return "javascriptWithScope";
    case Type::kInt32:
      return "int";
    case Type::kTimestamp:
      return "timestamp";
    case Type::kInt64:
      return "long";
    case Type::kDecimal128:
      return "decimal";
    case Type::kMaxKey:
      return "maxKey";
    case Type::kMinKey:
      return "minKey";
  }
  return "unknown";
}

ObjectId ObjectId::generate() {
  bson_oid_t oid;
  bson_oid_init(&oid, nullptr);  // the default context, whose counter is atomic
  Bytes bytes;
  std::memcpy(bytes.data(), oid.bytes, bytes.size());
  return ObjectId(bytes);
}

std::optional<ObjectId> ObjectId::from_hex(std::string_view hex) {
  if (hex.size() != 24 || !bson_oid_is_valid(hex.data(), hex.size())) return std::nullopt;
  bson_oid_t oid;
  bson_oid_init_from_string(&oid, std::string(hex).c_str());
  Bytes bytes;
  std::memcpy(bytes.data(), oid.bytes, bytes.size());
  return ObjectId(bytes);
}

std::string ObjectId::hex() const {
  bson_oid_t oid;
  std::memcpy(oid.bytes, bytes_.data(), bytes_.size());
  char text[25];
  bson_oid_to_string(&oid, text);
  return text;
}

uint32_t ObjectId::seconds() const {
  return uint32_t{bytes_[0]} << 24 | uint32_t{bytes_[1]} << 16 | uint32_t{bytes_[2]} << 8 |
         uint32_t{bytes_[3]};
}

Date Date::now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

double ValueView::as_double() const {
  assert(type_ == Type::kDouble);
  return load<double>(data_);
}

std::string_view ValueView::as_string() const {
  assert(type_ == Type::kString || type_ == Type::kSymbol || type_ == Type::kCode);
  return {reinterpret_cast<const char*>(data_) + 4, size_ - 5};
}

View ValueView::as_document() const {
  assert(type_ == Type::kDocument || type_ == Type::kArray);
  return View(data_, size_);
}

Binary ValueView::as_binary() const {
  assert(type_ == Type::kBinary);
  Binary binary{data_[4], data_ + 5, size_ - 5};
  if (binary.subtype == BSON_SUBTYPE_BINARY_DEPRECATED) {
    binary.data += 4;
    binary.size -= 4;
  }
  return binary;
}

ObjectId ValueView::as_object_id() const {
  assert(type_ == Type::kObjectId);
  return ObjectId(load<ObjectId::Bytes>(data_));
}

bool ValueView::as_bool() const {
  assert(type_ == Type::kBool);
  return *data_ != 0;
}

Date ValueView::as_date() const {
  assert(type_ == Type::kDate);
  return {load<int64_t>(data_)};
}

Regex ValueView::as_regex() const {
  assert(type_ == Type::kRegex);
  const std::string_view pattern(reinterpret_cast<const char*>(data_));
  return {pattern, reinterpret_cast<const char*>(data_) + pattern.size() + 1};
}

int32_t ValueView::as_int32() const {
  assert(type_ == Type::kInt32);
  return load<int32_t>(data_);
}

int64_t ValueView::as_int64() const {
  assert(type_ == Type::kInt64);
  return load<int64_t>(data_);
}

Timestamp ValueView::as_timestamp() const {
  assert(type_ == Type::kTimestamp);
  return {load<uint32_t>(data_ + 4), load<uint32_t>(data_)};
}

Decimal128 ValueView::as_decimal128() const {
  assert(type_ == Type::kDecimal128);
  return {load<uint64_t>(data_ + 8), load<uint64_t>(data_)};
}

std::optional<int64_t> ValueView::integral() const {
  switch (type_) {
    case Type::kInt32:
      return as_int32();
    case Type::kInt64:
      return as_int64();
    case Type::kDouble: {
      const double value = as_double();
      // 2^63 is a double, but the greatest int64 is not.
      if (!(value >= -0x1p63 && value < 0x1p63)) return std::nullopt;
      const auto integer = static_cast<int64_t>(value);
      if (static_cast<double>(integer) != value) return std::nullopt;
      return integer;
    }
    case Type::kDecimal128:
      return to_int64(as_decimal128());
    default:
      return std::nullopt;
  }
}

std::optional<double> ValueView::number() const {
  switch (type_) {
    case Type::kInt32:
      return as_int32();
    case Type::kInt64:
      return static_cast<double>(as_int64());
    case Type::kDouble:
      return as_double();
    case Type::kDecimal128:
      return to_nearest_double(as_decimal128());
    default:
      return std::nullopt;
  }
}

Value::Value() : type_(Type::kNull) {}
Value::Value(ValueView view)
    : type_(view.type()), bytes_(reinterpret_cast<const char*>(view.data()), view.size()) {}
Value::Value(double value) : type_(Type::kDouble), bytes_(bytes_of(value)) {}
Value::Value(std::string_view text) : type_(Type::kString), bytes_(bytes_of_text(text)) {}
Value::Value(bool value) : type_(Type::kBool), bytes_(1, value ? '\1' : '\0') {}
Value::Value(int32_t value) : type_(Type::kInt32), bytes_(bytes_of(value)) {}
Value::Value(int64_t value) : type_(Type::kInt64), bytes_(bytes_of(value)) {}
Value::Value(ObjectId id) : type_(Type::kObjectId), bytes_(bytes_of(id.bytes())) {}
Value::Value(Date date) : type_(Type::kDate), bytes_(bytes_of(date.milliseconds)) {}
Value::Value(View document) : type_(Type::kDocument), bytes_(bytes_of_document(document)) {}

Value Value::array(View elements) {
  return Value(Type::kArray, bytes_of_document(elements));
}
Value Value::min_key() {
  return Value(Type::kMinKey, {});
}
Value Value::max_key() {
  return Value(Type::kMaxKey, {});
}

}  // namespace gridmount::bson
