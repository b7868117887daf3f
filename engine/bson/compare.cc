#include "engine/bson/compare.h"

#include <algorithm>
#include <cstring>

#include "engine/bson/number.h"

namespace gridmount::bson {
namespace {

std::weak_ordering compare_bytes(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size) {
  const size_t common = std::min(a_size, b_size);
  const int order = common == 0 ? 0 : std::memcmp(a, b, common);
  return order != 0 ? order <=> 0 : a_size <=> b_size;
}

std::weak_ordering compare_text(std::string_view a, std::string_view b) {
  return a.compare(b) <=> 0;
}

std::weak_ordering compare_elements(View a, View b, bool with_names, const StringOrder* strings) {
  auto at_a = a.begin();
  auto at_b = b.begin();
  for (; at_a != a.end() && at_b != b.end(); ++at_a, ++at_b) {
    const Element element_a = *at_a;
    const Element element_b = *at_b;
    const std::weak_ordering types =
        canonical_order(element_a.value.type()) <=> canonical_order(element_b.value.type());
    if (types != 0) return types;
    if (with_names) {
      const std::weak_ordering names = compare_text(element_a.key, element_b.key);
      if (names != 0) return names;
    }
    const std::weak_ordering values = compare(element_a.value, element_b.value, strings);
    if (values != 0) return values;
  }
  return (at_a != a.end()) <=> (at_b != b.end());
}

}  // namespace

int canonical_order(Type type) {
  switch (type) {
    case Type::kMinKey:
      return -1;
    case Type::kUndefined:
      return 0;
    case Type::kNull:
      return 5;
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128:
      return 10;
    case Type::kString:
    case Type::kSymbol:
      return 15;
    case Type::kDocument:
      return 20;
    case Type::kArray:
      return 25;
    case Type::kBinary:
      return 30;
    case Type::kObjectId:
      return 35;
    case Type::kBool:
      return 40;
    case Type::kDate:
      return 45;
    case Type::kTimestamp:
      return 47;
    case Type::kRegex:
      return 50;
    case Type::kDbPointer:
      return 55;
    case Type::kCode:
      return 60;
    case Type::kCodeWithScope:
      return 65;
    case Type::kMaxKey:
      return 127;
  }
  return 127;
}

std::weak_ordering compare(ValueView a, ValueView b, const StringOrder* strings) {
  const std::weak_ordering types = canonical_order(a.type()) <=> canonical_order(b.type());
  if (types != 0) return types;
  switch (a.type()) {
    case Type::kMinKey:
    case Type::kMaxKey:
    case Type::kNull:
    case Type::kUndefined:
      return std::weak_ordering::equivalent;
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128:
      return compare_numbers(a, b);
    case Type::kString:
    case Type::kSymbol:
      if (strings != nullptr) return strings->compare(a.as_string(), b.as_string());
      [[fallthrough]];
    case Type::kCode:
      return compare_text(a.as_string(), b.as_string());
    case Type::kDocument:
      return compare_elements(a.as_document(), b.as_document(), true, strings);
    case Type::kArray:
      return compare_elements(a.as_document(), b.as_document(), false, strings);
    case Type::kBinary: {
      const Binary left = a.as_binary();
      const Binary right = b.as_binary();
      if (left.size != right.size) return left.size <=> right.size;
      if (left.subtype != right.subtype) return left.subtype <=> right.subtype;
      return compare_bytes(left.data, left.size, right.data, right.size);
    }
    case Type::kObjectId:
      return compare_bytes(a.data(), a.size(), b.data(), b.size());
    case Type::kBool:
      return a.as_bool() <=> b.as_bool();
    case Type::kDate:
      return a.as_date() <=> b.as_date();
    case Type::kTimestamp:
      return a.as_timestamp() <=> b.as_timestamp();
    case Type::kRegex: {
      const Regex left = a.as_regex();
      const Regex right = b.as_regex();
      const std::weak_ordering patterns = compare_text(left.pattern, right.pattern);
      return patterns != 0 ? patterns : compare_text(left.options, right.options);
    }
    case Type::kDbPointer:
    case Type::kCodeWithScope:
      if (a.size() != b.size()) return a.size() <=> b.size();
      return compare_bytes(a.data(), a.size(), b.data(), b.size());
  }
  return std::weak_ordering::equivalent;
}

std::weak_ordering compare(View a, View b, const StringOrder* strings) {
  return compare_elements(a, b, true, strings);
}

}  // namespace gridmount::bson
