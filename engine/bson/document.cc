#include "engine/bson/document.h"

#include <cassert>
#include <cstring>

namespace gridmount::bson {
namespace {

constexpr uint8_t kEmptyDocument[] = {5, 0, 0, 0, 0};

uint32_t load_length(const uint8_t* data) {
  uint32_t length;
  std::memcpy(&length, data, sizeof length);
  return length;
}

}  // namespace

bool is_nested(View document, uint32_t levels) {
  // The smallest size of a level: a type, an empty name's NUL, a length and a final NUL.
  constexpr size_t kLevelBytes = 7;
  if (document.size() < kLevelBytes * levels) return false;
  if (levels == 0) return true;
  for (const Element element : document) {
    const Type type = element.value.type();
    if ((type == Type::kDocument || type == Type::kArray) &&
        is_nested(element.value.as_document(), levels - 1)) {
      return true;
    }
  }
  return false;
}

uint32_t value_bytes(Type type, const uint8_t* data) {
  switch (type) {
    case Type::kMinKey:
    case Type::kMaxKey:
    case Type::kNull:
    case Type::kUndefined:
      return 0;
    case Type::kBool:
      return 1;
    case Type::kInt32:
      return 4;
    case Type::kDouble:
    case Type::kDate:
    case Type::kTimestamp:
    case Type::kInt64:
      return 8;
    case Type::kObjectId:
      return 12;
    case Type::kDecimal128:
      return 16;
    case Type::kString:
    case Type::kSymbol:
    case Type::kCode:
      return 4 + load_length(data);
    case Type::kDocument:
    case Type::kArray:
    case Type::kCodeWithScope:
      return load_length(data);
    case Type::kBinary:
      return 5 + load_length(data);
    case Type::kDbPointer:
      return 4 + load_length(data) + 12;
    case Type::kRegex: {
      const auto* text = reinterpret_cast<const char*>(data);
      const size_t pattern = std::strlen(text) + 1;
      return static_cast<uint32_t>(pattern + std::strlen(text + pattern) + 1);
    }
  }
  assert(false && "not validated");
  return 0;
}

View::View() : data_(kEmptyDocument), size_(sizeof kEmptyDocument) {}

void View::Iterator::read(const uint8_t* at) {
  at_end_ = *at == 0;
  if (at_end_) return;
  const auto type = static_cast<Type>(*at);
  const auto* key = reinterpret_cast<const char*>(at) + 1;
  const size_t key_size = std::strlen(key);
  const uint8_t* const value = at + 1 + key_size + 1;
  element_ = {{key, key_size}, ValueView(type, value, value_bytes(type, value))};
}

std::optional<ValueView> View::find(std::string_view key) const {
  const uint8_t* at = data_ + 4;
  while (*at != 0) {
    const auto type = static_cast<Type>(*at);
    const auto* name = reinterpret_cast<const char*>(at) + 1;
    const size_t name_size = std::strlen(name);
    const uint8_t* const value = at + 1 + name_size + 1;
    const uint32_t size = value_bytes(type, value);
    if (name_size == key.size() && std::memcmp(name, key.data(), name_size) == 0) {
      return ValueView(type, value, size);
    }
    at = value + size;
  }
  return std::nullopt;
}

ValueView View::operator[](std::string_view key) const {
  const std::optional<ValueView> value = find(key);
  assert(value && "the caller knows that the field is there");
  return value.value_or(ValueView(Type::kNull, nullptr, 0));
}

Document::Document() : Document(View()) {}

}  // namespace gridmount::bson
