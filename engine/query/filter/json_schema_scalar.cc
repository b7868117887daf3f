// Keywords for strings: minLength, maxLength, pattern. For numbers: minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf. For all values: type, bsonType.

#include <algorithm>

#include "engine/bson/compare.h"
#include "engine/query/filter/filter_number.h"
#include "engine/query/filter/json_schema_keyword.h"
#include "engine/query/filter/predicate.h"
#include "engine/query/regex.h"

namespace gridmount::query {
namespace {

using bson::Element;
using bson::Type;
using bson::ValueView;

// A keyword about a single value, which the explanation shows.
class ScalarKeyword : public SpecifiedKeyword {
 public:
  ScalarKeyword(const Element& element, std::string_view reason)
      : SpecifiedKeyword(element), reason_(reason) {}

  void explain(ValueView value, FailureBuilder& failures) const override {
    open_failure(failures, reason_);
    failures.append_value("consideredValue", value);
    failures.out().close();
  }

 private:
  std::string_view reason_;  // a string literal
};

// Returns the length in code points.
size_t length_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

class LengthKeyword : public ScalarKeyword {
 public:
  LengthKeyword(const Element& element, int64_t length)
      : ScalarKeyword(element, "specified string length was not satisfied"),
        length_(static_cast<uint64_t>(length)),
        is_minimum_(element.key == "minLength") {}

  bool allows(ValueView value, MatchContext&) const override {
    if (value.type() != Type::kString) return true;
    const size_t length = length_of(value.as_string());
    return is_minimum_ ? length >= length_ : length <= length_;
  }

 private:
  uint64_t length_;
  bool is_minimum_;
};

class PatternKeyword : public ScalarKeyword {
 public:
  PatternKeyword(const Element& element, Regex regex)
      : ScalarKeyword(element, "regular expression did not match"), regex_(std::move(regex)) {}

  bool allows(ValueView value, MatchContext& context) const override {
    if (value.type() != Type::kString) return true;
    Result<bool> matches = regex_.try_match(value.as_string());
    if (!matches) context.fail(matches.error());
    return matches.value_or(false);
  }

 private:
  Regex regex_;
};

class BoundKeyword : public ScalarKeyword {
 public:
  BoundKeyword(const Element& element, std::unique_ptr<ValueTest> test)
      : ScalarKeyword(element, "comparison failed"), test_(std::move(test)) {}

  bool allows(ValueView value, MatchContext& context) const override {
    return !value.is_number() || test_->test(value, context);
  }
  using SpecifiedKeyword::specify_also;

 private:
  std::unique_ptr<ValueTest> test_;
};

class MultipleOfKeyword : public ScalarKeyword {
 public:
  explicit MultipleOfKeyword(const Element& element)
      : ScalarKeyword(element, "considered value is not a multiple of the specified value"),
        divisor_(element.value) {}

  bool allows(ValueView value, MatchContext&) const override {
    return !value.is_number() || is_multiple(value, divisor_);
  }

 private:
  bson::Value divisor_;
};

class TypeKeyword : public SpecifiedKeyword {
 public:
  TypeKeyword(const Element& element, std::vector<Type> types)
      : SpecifiedKeyword(element), types_(std::move(types)) {}

  bool allows(ValueView value, MatchContext&) const override {
    return std::find(types_.begin(), types_.end(), value.type()) != types_.end();
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    open_failure(failures, "type did not match");
    failures.append_value("consideredValue", value);
    failures.out().append("consideredType", bson::type_alias(value.type())).close();
  }

 private:
  std::vector<Type> types_;
};

Status add_length(const SchemaElements& elements, std::string_view name, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find(name);
  if (!element) return {};
  GM_ASSIGN(const int64_t length, non_negative_integer(element->key, element->value));
  keywords.push_back(std::make_unique<LengthKeyword>(*element, length));
  return {};
}

Status add_pattern(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("pattern");
  if (!element) return {};
  if (element->value.type() != Type::kString) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key, "must be a string");
  }
  GM_ASSIGN(Regex regex, Regex::compile(element->value.as_string(), ""));
  keywords.push_back(std::make_unique<PatternKeyword>(*element, std::move(regex)));
  return {};
}

Status add_multiple_of(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("multipleOf");
  if (!element) return {};
  if (!element->value.is_number()) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key, "must be a number");
  }
  if (bson::compare(element->value, bson::Value(0)) <= 0) {
    return refuse_keyword(ErrorCode::kFailedToParse, element->key, "must have a positive value");
  }
  keywords.push_back(std::make_unique<MultipleOfKeyword>(*element));
  return {};
}

Status add_bound(const SchemaElements& elements, bool maximum, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find(maximum ? "maximum" : "minimum");
  const std::optional<Element> exclusive =
      elements.find(maximum ? "exclusiveMaximum" : "exclusiveMinimum");
  if (!element) {
    if (!exclusive) return {};
    return refuse_keyword(ErrorCode::kFailedToParse, maximum ? "maximum" : "minimum",
                          "must be a present if " + std::string(exclusive->key) + " is present");
  }
  if (exclusive && exclusive->value.type() != Type::kBool) {
    return refuse_keyword(ErrorCode::kTypeMismatch, exclusive->key, "must be a boolean");
  }
  if (!element->value.is_number()) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key, "must be a number");
  }
  using Kind = Predicate::Kind;
  const bool without_bound = exclusive && exclusive->value.as_bool();
  const Kind kind = maximum ? (without_bound ? Kind::kLess : Kind::kLessEqual)
                            : (without_bound ? Kind::kGreater : Kind::kGreaterEqual);
  auto keyword =
      std::make_unique<BoundKeyword>(*element, order_test(kind, element->value, nullptr));
  if (exclusive) keyword->specify_also(*exclusive);
  keywords.push_back(std::move(keyword));
  return {};
}

Status add_json_type(std::string_view alias, std::vector<Type>& types) {
  if (alias == "boolean") {
    types.push_back(Type::kBool);
    return {};
  }
  constexpr std::string_view kSame[] = {"array", "null", "number", "object", "string"};
  if (std::find(std::begin(kSame), std::end(kSame), alias) == std::end(kSame)) {
    return fail(ErrorCode::kBadValue, "Unknown type name alias: " + std::string(alias));
  }
  return add_types(alias, types);
}

Result<std::vector<Type>> types_of(const Element& element) {
  std::vector<Type> types;
  std::vector<std::string_view> aliases;
  const auto add = [&](ValueView alias) -> Status {
    if (alias.as_string() == "integer") {
      return fail(ErrorCode::kFailedToParse,
                  "$jsonSchema type 'integer' is not currently supported.");
    }
    if (std::find(aliases.begin(), aliases.end(), alias.as_string()) != aliases.end()) {
      return refuse_keyword(ErrorCode::kFailedToParse, element.key,
                            "has duplicate value: " + std::string(alias.as_string()));
    }
    aliases.push_back(alias.as_string());
    return element.key == "type" ? add_json_type(alias.as_string(), types)
                                 : add_types(alias.as_string(), types);
  };
  if (element.value.type() == Type::kString) {
    GM_TRY(add(element.value));
    return types;
  }
  if (element.value.type() != Type::kArray) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element.key,
                          "must be either a string or an array of strings");
  }
  for (const Element alias : element.value.as_document()) {
    if (alias.value.type() != Type::kString) {
      return refuse_keyword(ErrorCode::kTypeMismatch, element.key,
                            "array elements must be strings");
    }
    GM_TRY(add(alias.value));
  }
  if (types.empty()) {
    return refuse_keyword(ErrorCode::kFailedToParse, element.key, "must name at least one type");
  }
  return types;
}

}  // namespace

Status parse_scalar_keywords(const SchemaElements& elements, SchemaKeywords& keywords) {
  GM_TRY(add_pattern(elements, keywords));
  GM_TRY(add_length(elements, "maxLength", keywords));
  GM_TRY(add_length(elements, "minLength", keywords));
  GM_TRY(add_multiple_of(elements, keywords));
  GM_TRY(add_bound(elements, true, keywords));
  return add_bound(elements, false, keywords);
}

Status parse_type_keyword(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> json = elements.find("type");
  const std::optional<Element> bson = elements.find("bsonType");
  if (json && bson) {
    return fail(ErrorCode::kFailedToParse,
                "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'");
  }
  if (!json && !bson) return {};
  const Element element = json ? *json : *bson;
  GM_ASSIGN(std::vector<Type> types, types_of(element));
  keywords.push_back(std::make_unique<TypeKeyword>(element, std::move(types)));
  return {};
}

}  // namespace gridmount::query
