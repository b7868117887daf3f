#include "engine/bson/json_value.h"

#include <bson/bson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "engine/base/base64.h"
#include "engine/bson/builder.h"
#include "engine/bson/json_date.h"

namespace gridmount::bson {
namespace {

using Parsed = Result<std::optional<Value>>;

constexpr std::string_view kHexadecimal = "0123456789abcdefABCDEF";

tl::unexpected<Error> refuse(const std::string& what) {
  return fail(ErrorCode::kFailedToParse, what);
}

// Makes a value that only a Builder can make.
template <typename Append>
Value built(const Append& append) {
  Builder builder;
  append(builder);
  const Document holder = std::move(builder).finish();
  return Value((*holder.view().begin()).value);
}

Value of_bytes(Type type, const std::vector<uint8_t>& bytes) {
  return Value(ValueView(type, bytes.data(), static_cast<uint32_t>(bytes.size())));
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

Result<std::string_view> text_of(const Element& element) {
  if (element.value.type() == Type::kString) return element.value.as_string();
  return refuse("the value of " + std::string(element.key) + " must be a string");
}

// Returns a member of the object in `element`, which must have exactly the members `name` and
// `other`.
Result<ValueView> member_of(const Element& element, std::string_view name, std::string_view other) {
  if (element.value.type() == Type::kDocument) {
    const View object = element.value.as_document();
    const std::optional<ValueView> found = object.find(name);
    if (found && object.find(other) && std::distance(object.begin(), object.end()) == 2) {
      return *found;
    }
  }
  return refuse("the value of " + std::string(element.key) + " must be an object of " +
                std::string(name) + " and " + std::string(other));
}

Result<std::string_view> text_member(const Element& element, std::string_view name,
                                     std::string_view other) {
  GM_ASSIGN(const ValueView value, member_of(element, name, other));
  return text_of({name, value});
}

Parsed object_id(const Element& element) {
  GM_ASSIGN(const std::string_view text, text_of(element));
  const std::optional<ObjectId> id = ObjectId::from_hex(text);
  if (!id) return refuse("an ObjectId has 24 hexadecimal digits, not " + quoted(text));
  return Value(*id);
}

template <typename T>
Parsed integer(const Element& element) {
  GM_ASSIGN(const std::string_view text, text_of(element));
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return refuse(quoted(text) + " is not an integer of " + std::to_string(sizeof(T) * 8) +
                  " bits");
  }
  return Value(value);
}

Parsed floating(const Element& element) {
  GM_ASSIGN(const std::string_view text, text_of(element));
  if (text == "NaN") return Value(std::numeric_limits<double>::quiet_NaN());
  if (text == "Infinity") return Value(std::numeric_limits<double>::infinity());
  if (text == "-Infinity") return Value(-std::numeric_limits<double>::infinity());
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) {
    return refuse(quoted(text) + " is not a double");
  }
  return Value(value);
}

Parsed decimal(const Element& element) {
  GM_ASSIGN(const std::string_view text, text_of(element));
  bson_decimal128_t value;
  if (text.find('\0') != std::string_view::npos ||
      !bson_decimal128_from_string(std::string(text).c_str(), &value)) {
    return refuse(quoted(text) + " is not a Decimal128 of at most 34 digits");
  }
  return built([&](Builder& builder) { builder.append("v", Decimal128{value.high, value.low}); });
}

Parsed binary_of(std::string_view text, std::string_view subtype_text) {
  if (text.size() % 4 != 0) return refuse("the length of base64 text must be a multiple of 4");
  const std::optional<std::string> bytes = from_base64(text);
  if (!bytes) return refuse("the text is not base64");
  unsigned subtype = 0;
  if (subtype_text.empty() || subtype_text.size() > 2 ||
      subtype_text.find_first_not_of(kHexadecimal) != std::string_view::npos) {
    return refuse("a subtype of binary data has one or two hexadecimal digits, not " +
                  quoted(subtype_text));
  }
  std::from_chars(subtype_text.data(), subtype_text.data() + subtype_text.size(), subtype, 16);
  return built([&](Builder& builder) {
    builder.append(
        "v", Binary{static_cast<uint8_t>(subtype), reinterpret_cast<const uint8_t*>(bytes->data()),
                    static_cast<uint32_t>(bytes->size())});
  });
}

Parsed binary(const Element& element) {
  GM_ASSIGN(const std::string_view text, text_member(element, "base64", "subType"));
  GM_ASSIGN(const std::string_view subtype, text_member(element, "subType", "base64"));
  return binary_of(text, subtype);
}

Parsed uuid(const Element& element) {
  GM_ASSIGN(const std::string_view text, text_of(element));
  std::vector<uint8_t> bytes;
  bool is_uuid = text.size() == 36;
  for (size_t i = 0; is_uuid && i < text.size();) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      is_uuid = text[i++] == '-';
      continue;
    }
    uint8_t byte = 0;
    is_uuid =
        std::from_chars(text.data() + i, text.data() + i + 2, byte, 16).ptr == text.data() + i + 2;
    bytes.push_back(byte);
    i += 2;
  }
  if (!is_uuid) return refuse(quoted(text) + " is not a UUID");
  return built([&](Builder& builder) { builder.append("v", Binary{4, bytes.data(), 16}); });
}

Parsed date(const Element& element) {
  if (const std::optional<int64_t> milliseconds = element.value.integral()) {
    return Value(Date{*milliseconds});
  }
  GM_ASSIGN(const std::string_view text, text_of(element));
  const std::optional<Date> date = date_from_text(text);
  if (!date) return refuse(quoted(text) + " is not an RFC 3339 date");
  return Value(*date);
}

Result<uint32_t> timestamp_part(const Element& element, std::string_view name,
                                std::string_view other) {
  GM_ASSIGN(const ValueView value, member_of(element, name, other));
  const std::optional<int64_t> part = value.integral();
  if (!part || *part < 0 || *part > std::numeric_limits<uint32_t>::max()) {
    return refuse("the parts of a timestamp must be integers from 0 to 2^32 - 1");
  }
  return static_cast<uint32_t>(*part);
}

Parsed timestamp(const Element& element) {
  GM_ASSIGN(const uint32_t seconds, timestamp_part(element, "t", "i"));
  GM_ASSIGN(const uint32_t increment, timestamp_part(element, "i", "t"));
  return built([&](Builder& builder) { builder.append("v", Timestamp{seconds, increment}); });
}

Parsed regex_of(std::string_view pattern, std::string_view options) {
  if (pattern.find('\0') != std::string_view::npos ||
      options.find('\0') != std::string_view::npos) {
    return refuse("a regular expression holds a NUL");
  }
  std::string sorted(options);
  std::sort(sorted.begin(), sorted.end());
  return built([&](Builder& builder) { builder.append_regex("v", pattern, sorted); });
}

Parsed regular_expression(const Element& element) {
  GM_ASSIGN(const std::string_view pattern, text_member(element, "pattern", "options"));
  GM_ASSIGN(const std::string_view options, text_member(element, "options", "pattern"));
  return regex_of(pattern, options);
}

// The bytes of a string are also valid for a symbol and for code.
Parsed text_as(Type type, const Element& element) {
  GM_ASSIGN(const std::string_view text, text_of(element));
  // Code with a NUL could not be printed again.
  if (type == Type::kCode && text.find('\0') != std::string_view::npos) {
    return refuse("code holds a NUL");
  }
  return Value(ValueView(type, element.value.data(), element.value.size()));
}

Parsed code_with_scope(const Element& code, const Element& scope) {
  GM_ASSIGN(const std::optional<Value> text, text_as(Type::kCode, code));
  if (scope.value.type() != Type::kDocument) return refuse("the value of $scope must be an object");
  const uint32_t size = 4 + code.value.size() + scope.value.size();
  std::vector<uint8_t> bytes;
  for (const int shift : {0, 8, 16, 24}) bytes.push_back(static_cast<uint8_t>(size >> shift));
  bytes.insert(bytes.end(), code.value.data(), code.value.data() + code.value.size());
  bytes.insert(bytes.end(), scope.value.data(), scope.value.data() + scope.value.size());
  return of_bytes(Type::kCodeWithScope, bytes);
}

Parsed db_pointer(const Element& element) {
  GM_ASSIGN(const ValueView ref, member_of(element, "$ref", "$id"));
  GM_ASSIGN(const ValueView id, member_of(element, "$id", "$ref"));
  if (ref.type() != Type::kString || id.type() != Type::kObjectId) {
    return refuse("$dbPointer needs a string as $ref and an ObjectId as $id");
  }
  std::vector<uint8_t> bytes(ref.data(), ref.data() + ref.size());
  bytes.insert(bytes.end(), id.data(), id.data() + id.size());
  return of_bytes(Type::kDbPointer, bytes);
}

Parsed undefined(const Element& element) {
  if (element.value.type() != Type::kBool || !element.value.as_bool()) {
    return refuse("the value of $undefined must be true");
  }
  return of_bytes(Type::kUndefined, {});
}

Parsed end_of_order(const Element& element, Value (*key)()) {
  if (element.value.integral() != 1)
    return refuse("the value of " + std::string(element.key) + " must be 1");
  return key();
}

// The objects that have one member with this name.
struct Kind {
  std::string_view name;
  Parsed (*parse)(const Element& element);
};

constexpr std::array<Kind, 16> kKinds{{
    {"$oid", object_id},
    {"$symbol", [](const Element& e) { return text_as(Type::kSymbol, e); }},
    {"$numberInt", integer<int32_t>},
    {"$numberLong", integer<int64_t>},
    {"$numberDouble", floating},
    {"$numberDecimal", decimal},
    {"$binary", binary},
    {"$uuid", uuid},
    {"$code", [](const Element& e) { return text_as(Type::kCode, e); }},
    {"$timestamp", timestamp},
    {"$regularExpression", regular_expression},
    {"$dbPointer", db_pointer},
    {"$date", date},
    {"$minKey", [](const Element& e) { return end_of_order(e, Value::min_key); }},
    {"$maxKey", [](const Element& e) { return end_of_order(e, Value::max_key); }},
    {"$undefined", undefined},
}};

const Kind* kind_of(std::string_view name) {
  const auto* const found = std::find_if(kKinds.begin(), kKinds.end(),
                                         [&](const Kind& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : found;
}

Parsed value_of_pair(const Element& a, const Element& b) {
  const auto are = [&](std::string_view first, std::string_view second) {
    return a.key == first && b.key == second;
  };
  if (are("$code", "$scope")) return code_with_scope(a, b);
  if (are("$scope", "$code")) return code_with_scope(b, a);
  const bool are_texts = a.value.type() == Type::kString && b.value.type() == Type::kString;
  if (!are_texts) return std::optional<Value>();
  if (are("$binary", "$type")) return binary_of(a.value.as_string(), b.value.as_string());
  if (are("$type", "$binary")) return binary_of(b.value.as_string(), a.value.as_string());
  if (are("$regex", "$options")) return regex_of(a.value.as_string(), b.value.as_string());
  if (are("$options", "$regex")) return regex_of(b.value.as_string(), a.value.as_string());
  return std::optional<Value>();
}

}  // namespace

bool begins_value(std::string_view name) {
  return kind_of(name) != nullptr || name == "$scope" || name == "$type" || name == "$regex" ||
         name == "$options";
}

Result<std::optional<Value>> value_of_object(View object) {
  View::Iterator at = object.begin();
  if (at == object.end()) return std::optional<Value>();
  const Element first = *at;
  const Kind* const kind = kind_of(first.key);
  if (++at == object.end()) return kind == nullptr ? std::optional<Value>() : kind->parse(first);
  const Element second = *at;
  if (++at == object.end()) {
    GM_ASSIGN(std::optional<Value> value, value_of_pair(first, second));
    if (value) return value;
  }
  // $regex and $type are query operators too, and may have other members beside them.
  if (kind == nullptr) return std::optional<Value>();
  return refuse(std::string(first.key) + " must be the only field of its object");
}

}  // namespace gridmount::bson
