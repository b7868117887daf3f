#include "engine/bson/builder.h"

#include <algorithm>
#include <cassert>

#include "engine/bson/element_bytes.h"

namespace gridmount::bson {

Builder::Builder() {
  open_.push_back({begin_document(bytes_), false});
}

void Builder::append_bytes(const void* data, size_t size) {
  // Also reserves room for the closing NULs, because another growth for them would copy a chunk
  // once more.
  const size_t needed = bytes_.size() + size + open_.size();
  if (needed > bytes_.capacity()) bytes_.reserve(std::max(needed, 2 * bytes_.capacity()));
  bson::append_bytes(bytes_, data, size);
}

Builder& Builder::begin_element(Type type, std::string_view key) {
  assert(key.find('\0') == std::string_view::npos);
  append_element_head(bytes_, type, key);
  return *this;
}

template <typename T>
Builder& Builder::append_fixed(Type type, std::string_view key, T value) {
  begin_element(type, key);
  append_bytes(&value, sizeof value);
  return *this;
}

Builder& Builder::append(std::string_view key, ValueView value) {
  begin_element(value.type(), key);
  append_bytes(value.data(), value.size());
  return *this;
}

Builder& Builder::append(std::string_view key, View document) {
  return append(key, ValueView(Type::kDocument, document.data(), document.size()));
}

Builder& Builder::append(std::string_view key, std::string_view text) {
  append_fixed(Type::kString, key, static_cast<uint32_t>(text.size() + 1));
  append_bytes(text.data(), text.size());
  bytes_.push_back(0);
  return *this;
}

Builder& Builder::append(std::string_view key, double value) {
  return append_fixed(Type::kDouble, key, value);
}

Builder& Builder::append(std::string_view key, bool value) {
  return append_fixed(Type::kBool, key, static_cast<uint8_t>(value ? 1 : 0));
}

Builder& Builder::append(std::string_view key, int32_t value) {
  return append_fixed(Type::kInt32, key, value);
}

Builder& Builder::append(std::string_view key, int64_t value) {
  return append_fixed(Type::kInt64, key, value);
}

Builder& Builder::append(std::string_view key, ObjectId id) {
  return append_fixed(Type::kObjectId, key, id.bytes());
}

Builder& Builder::append(std::string_view key, Date date) {
  return append_fixed(Type::kDate, key, date.milliseconds);
}

Builder& Builder::append(std::string_view key, Timestamp timestamp) {
  const uint64_t value = uint64_t{timestamp.seconds} << 32 | timestamp.increment;
  return append_fixed(Type::kTimestamp, key, value);
}

Builder& Builder::append(std::string_view key, Decimal128 value) {
  append_fixed(Type::kDecimal128, key, value.low);
  append_bytes(&value.high, sizeof value.high);
  return *this;
}

Builder& Builder::append(std::string_view key, Binary binary) {
  const bool old = binary.subtype == kOldBinarySubtype;
  append_fixed(Type::kBinary, key, binary.size + (old ? 4 : 0));
  bytes_.push_back(binary.subtype);
  if (old) append_bytes(&binary.size, sizeof binary.size);
  append_bytes(binary.data, binary.size);
  return *this;
}

Builder& Builder::append_array(std::string_view key, View elements) {
  return append(key, ValueView(Type::kArray, elements.data(), elements.size()));
}

Builder& Builder::append_regex(std::string_view key, std::string_view pattern,
                               std::string_view options) {
  assert(pattern.find('\0') == std::string_view::npos);
  assert(options.find('\0') == std::string_view::npos);
  begin_element(Type::kRegex, key);
  append_bytes(pattern.data(), pattern.size());
  bytes_.push_back(0);
  append_bytes(options.data(), options.size());
  bytes_.push_back(0);
  return *this;
}

Builder& Builder::append_null(std::string_view key) {
  return begin_element(Type::kNull, key);
}

Builder& Builder::append_all(View document) {
  append_bytes(document.data() + 4, document.size() - 5);
  return *this;
}

void Builder::open(Type type, std::string_view key) {
  begin_element(type, key);
  open_.push_back({begin_document(bytes_), type == Type::kArray});
}

Builder& Builder::open_document(std::string_view key) {
  open(Type::kDocument, key);
  return *this;
}

Builder& Builder::open_array(std::string_view key) {
  open(Type::kArray, key);
  return *this;
}

std::string_view Builder::next_key() {
  assert(open_.back().is_array);
  return array_key_.of(open_.back().next++);
}

Builder& Builder::push(ValueView value) {
  return append(next_key(), value);
}
Builder& Builder::push(View document) {
  return append(next_key(), document);
}
Builder& Builder::push_open_document() {
  return open_document(next_key());
}
Builder& Builder::push_open_array() {
  return open_array(next_key());
}

Builder& Builder::close() {
  assert(open_.size() > 1 && "nothing is open");
  end_document(bytes_, open_.back().begin);
  open_.pop_back();
  return *this;
}

Document Builder::finish() && {
  assert(open_.size() == 1 && "something is still open");
  end_document(bytes_, 0);
  return Document(std::move(bytes_));
}

}  // namespace gridmount::bson
