// BSON values.
//
// A ValueView refers to bytes of another object, which must outlive the view. A Value owns its
// bytes. Both are immutable. Their bytes have been validated (bson::validate) or were written by a
// Builder, so the accessors assert the type and return no errors.
//
// Thread-safety: plain values. Several threads may read a view or a value at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gridmount::bson {

class View;

// The type bytes of the BSON specification (bsonspec.org, version 1.1).
enum class Type : uint8_t {
  kDouble = 0x01,
  kString = 0x02,
  kDocument = 0x03,
  kArray = 0x04,
  kBinary = 0x05,
  kUndefined = 0x06,
  kObjectId = 0x07,
  kBool = 0x08,
  kDate = 0x09,
  kNull = 0x0A,
  kRegex = 0x0B,
  kDbPointer = 0x0C,
  kCode = 0x0D,
  kSymbol = 0x0E,
  kCodeWithScope = 0x0F,
  kInt32 = 0x10,
  kTimestamp = 0x11,
  kInt64 = 0x12,
  kDecimal128 = 0x13,
  kMaxKey = 0x7F,
  kMinKey = 0xFF,
};

// The old subtype of binary data, whose bytes begin with the length of the other bytes
// (bsonspec.org: "Binary (Old)").
inline constexpr uint8_t kOldBinarySubtype = 2;

// Returns the alias that $type accepts ("double", "objectId", "minKey", ...).
std::string_view type_alias(Type type);

// Returns true for null and for undefined (the server's isNullish).
constexpr bool is_nullish(Type type) {
  return type == Type::kNull || type == Type::kUndefined;
}

// An ObjectId has 12 bytes: the seconds since 1970 (4 bytes, big-endian), a random value of the
// process (5 bytes), and a counter (3 bytes, big-endian).
class ObjectId {
 public:
  using Bytes = std::array<uint8_t, 12>;

  ObjectId() : bytes_{} {}
  explicit ObjectId(const Bytes& bytes) : bytes_(bytes) {}

  // Makes a new id, which is unique in this process and very probably everywhere. Thread-safe.
  static ObjectId generate();
  // Parses 24 hexadecimal digits. Returns nothing if the text is anything else.
  static std::optional<ObjectId> from_hex(std::string_view hex);

  const Bytes& bytes() const { return bytes_; }
  std::string hex() const;
  // Returns the time of creation in seconds since 1970.
  uint32_t seconds() const;

  friend auto operator<=>(const ObjectId&, const ObjectId&) = default;

 private:
  Bytes bytes_;
};

struct Binary {
  uint8_t subtype = 0;
  const uint8_t* data = nullptr;
  uint32_t size = 0;  // size of the payload, without the inner length of the old subtype 2
};

struct Regex {
  std::string_view pattern;
  std::string_view options;
};

// A point in time: milliseconds since 1970-01-01T00:00:00Z. May be negative.
struct Date {
  int64_t milliseconds = 0;
  static Date now();
  friend auto operator<=>(const Date&, const Date&) = default;
};

// MongoDB's internal timestamp. Timestamps are ordered by seconds, then by increment.
struct Timestamp {
  uint32_t seconds = 0;
  uint32_t increment = 0;
  friend auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

// An IEEE 754-2008 decimal as two 64-bit halves, like libbson's bson_decimal128_t.
struct Decimal128 {
  uint64_t high = 0;
  uint64_t low = 0;
};

class ValueView {
 public:
  // `data` points to the bytes of the value, which follow the element's name. `size` is the number
  // of these bytes.
  ValueView(Type type, const uint8_t* data, uint32_t size)
      : type_(type), data_(data), size_(size) {}

  Type type() const { return type_; }
  const uint8_t* data() const { return data_; }
  uint32_t size() const { return size_; }

  bool is_number() const {
    return type_ == Type::kInt32 || type_ == Type::kInt64 || type_ == Type::kDouble ||
           type_ == Type::kDecimal128;
  }

  // Each accessor asserts that the value has the accessor's type. The result of an accessor may
  // refer to the bytes of this view.
  double as_double() const;
  std::string_view as_string() const;  // kString, kSymbol and kCode; may hold NUL bytes
  View as_document() const;            // kDocument and kArray
  Binary as_binary() const;
  ObjectId as_object_id() const;
  bool as_bool() const;
  Date as_date() const;
  Regex as_regex() const;
  int32_t as_int32() const;
  int64_t as_int64() const;
  Timestamp as_timestamp() const;
  Decimal128 as_decimal128() const;

  // Returns the value as an int64 if it is a number of any type without a fraction, and in range.
  // Otherwise returns nothing. The GridFS specification demands that sizes of any numeric type can
  // be read.
  std::optional<int64_t> integral() const;
  // Returns the nearest double if the value is a number of any type, otherwise nothing.
  std::optional<double> number() const;

 private:
  Type type_;
  const uint8_t* data_;
  uint32_t size_;
};

inline bool is_nullish(const std::optional<ValueView>& value) {
  return !value || is_nullish(value->type());
}

class Value {
 public:
  Value();  // null
  explicit Value(ValueView view);
  explicit Value(double value);
  explicit Value(std::string_view text);
  explicit Value(const char* text) : Value(std::string_view(text)) {}
  explicit Value(bool value);
  explicit Value(int32_t value);
  explicit Value(int64_t value);
  explicit Value(ObjectId id);
  explicit Value(Date date);
  explicit Value(View document);  // kDocument
  static Value array(View elements);
  static Value min_key();
  static Value max_key();

  Type type() const { return type_; }
  ValueView view() const {
    return ValueView(type_, reinterpret_cast<const uint8_t*>(bytes_.data()),
                     static_cast<uint32_t>(bytes_.size()));
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a Value is accepted wherever a view is.
  operator ValueView() const { return view(); }

  // Compares types and bytes: int32 1 and int64 1 are not equal. Hash tables with a files_id as the
  // key use this equality. compare.h has the equality of queries.
  friend bool operator==(const Value& a, const Value& b) {
    return a.type_ == b.type_ && a.bytes_ == b.bytes_;
  }
  // Returns the value's bytes, without its type.
  const std::string& bytes() const { return bytes_; }

 private:
  Value(Type type, std::string bytes) : type_(type), bytes_(std::move(bytes)) {}

  Type type_;
  std::string bytes_;
};

struct ValueHash {
  size_t operator()(const Value& value) const {
    return std::hash<std::string>()(value.bytes()) * 31 + static_cast<size_t>(value.type());
  }
};

}  // namespace gridmount::bson
