// Keywords for all values: allOf, anyOf, oneOf, not and enum.

#include <algorithm>

#include "engine/bson/compare.h"
#include "engine/query/filter/json_schema_keyword.h"

namespace gridmount::query {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::ValueView;

enum class Wanted { kAll, kAny, kOne };

class SubschemasKeyword : public SchemaKeyword {
 public:
  SubschemasKeyword(std::string_view name, Wanted wanted, std::vector<JsonSchema> schemas)
      : name_(name), wanted_(wanted), schemas_(std::move(schemas)) {}

  bool allows(ValueView value, MatchContext& context) const override {
    const auto allow = [&](const JsonSchema& schema) { return schema.allows(value, context); };
    switch (wanted_) {
      case Wanted::kAll:
        return std::all_of(schemas_.begin(), schemas_.end(), allow);
      case Wanted::kAny:
        return std::any_of(schemas_.begin(), schemas_.end(), allow);
      case Wanted::kOne:
        return std::count_if(schemas_.begin(), schemas_.end(), allow) == 1;
    }
    return false;
  }

  void explain(ValueView value, FailureBuilder& failures) const override {
    std::vector<int32_t> allowing;
    std::vector<int32_t> failing;
    for (size_t i = 0; i < schemas_.size(); ++i) {
      MatchContext context;
      (schemas_[i].allows(value, context) ? allowing : failing).push_back(static_cast<int32_t>(i));
    }
    bson::Builder& out = failures.out();
    out.push_open_document().append("operatorName", name_);
    if (wanted_ == Wanted::kOne && !allowing.empty()) {
      out.append("reason", "more than one subschema matched").open_array("matchingSchemaIndexes");
      for (const int32_t index : allowing) out.push(Value(index));
    } else {
      out.open_array("schemasNotSatisfied");
      for (const int32_t index : failing) {
        const JsonSchema& schema = schemas_[static_cast<size_t>(index)];
        out.push_open_document().append("index", index);
        schema.append_annotations(out);
        out.open_array("details");
        schema.explain(value, failures);
        out.close().close();
      }
    }
    out.close().close();
  }

 private:
  std::string name_;
  Wanted wanted_;
  std::vector<JsonSchema> schemas_;
};

class NotKeyword : public SchemaKeyword {
 public:
  explicit NotKeyword(JsonSchema schema) : schema_(std::move(schema)) {}

  bool allows(ValueView value, MatchContext& context) const override {
    return !schema_.allows(value, context);
  }
  void explain(ValueView, FailureBuilder& failures) const override {
    failures.out()
        .push_open_document()
        .append("operatorName", "not")
        .append("reason", "child expression matched")
        .close();
  }

 private:
  JsonSchema schema_;
};

class EnumKeyword : public SpecifiedKeyword {
 public:
  // `values` must be sorted, with the fields of documents sorted too.
  EnumKeyword(const Element& element, std::vector<Value> values)
      : SpecifiedKeyword(element), values_(std::move(values)) {}

  bool allows(ValueView value, MatchContext&) const override {
    if (value.type() != Type::kDocument && value.type() != Type::kArray) return holds(value);
    return holds(with_sorted_fields(value));
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    open_failure(failures, "value was not found in enum");
    failures.append_value("consideredValue", value);
    failures.out().close();
  }

 private:
  bool holds(ValueView value) const {
    const auto at =
        std::lower_bound(values_.begin(), values_.end(), value,
                         [](const Value& a, ValueView b) { return bson::compare(a, b) < 0; });
    return at != values_.end() && bson::compare(*at, value) == 0;
  }

  std::vector<Value> values_;
};

Status add_subschemas(const SchemaElements& elements, std::string_view name, Wanted wanted,
                      SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find(name);
  if (!element) return {};
  if (element->value.type() != Type::kArray) {
    return refuse_keyword(ErrorCode::kTypeMismatch, name, "must be an array");
  }
  std::vector<JsonSchema> schemas;
  for (const Element item : element->value.as_document()) {
    if (item.value.type() != Type::kDocument) {
      return refuse_keyword(ErrorCode::kTypeMismatch, name,
                            "must be an array of objects, but found an element of type " +
                                std::string(bson::type_alias(item.value.type())));
    }
    GM_ASSIGN(JsonSchema schema, elements.parse_below(item.value.as_document()));
    schemas.push_back(std::move(schema));
  }
  if (schemas.empty()) {
    return refuse_keyword(ErrorCode::kBadValue, name, "must be a non-empty array");
  }
  keywords.push_back(std::make_unique<SubschemasKeyword>(name, wanted, std::move(schemas)));
  return {};
}

Status add_not(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("not");
  if (!element) return {};
  if (element->value.type() != Type::kDocument) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key,
                          "must be an object, but found an element of type " +
                              std::string(bson::type_alias(element->value.type())));
  }
  GM_ASSIGN(JsonSchema schema, elements.parse_below(element->value.as_document()));
  keywords.push_back(std::make_unique<NotKeyword>(std::move(schema)));
  return {};
}

Status add_enum(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("enum");
  if (!element) return {};
  if (element->value.type() != Type::kArray) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key,
                          "must be an array, but found an element of type " +
                              std::string(bson::type_alias(element->value.type())));
  }
  std::vector<Value> values;
  for (const Element item : element->value.as_document()) {
    values.push_back(with_sorted_fields(item.value));
  }
  if (values.empty()) {
    return refuse_keyword(ErrorCode::kFailedToParse, element->key, "cannot be an empty array");
  }
  std::sort(values.begin(), values.end(),
            [](const Value& a, const Value& b) { return bson::compare(a, b) < 0; });
  const auto same = [](const Value& a, const Value& b) { return bson::compare(a, b) == 0; };
  if (std::adjacent_find(values.begin(), values.end(), same) != values.end()) {
    return refuse_keyword(ErrorCode::kFailedToParse, element->key,
                          "array cannot contain duplicate values.");
  }
  keywords.push_back(std::make_unique<EnumKeyword>(*element, std::move(values)));
  return {};
}

}  // namespace

Status parse_logical_keywords(const SchemaElements& elements, SchemaKeywords& keywords) {
  GM_TRY(add_subschemas(elements, "allOf", Wanted::kAll, keywords));
  GM_TRY(add_subschemas(elements, "anyOf", Wanted::kAny, keywords));
  GM_TRY(add_subschemas(elements, "oneOf", Wanted::kOne, keywords));
  GM_TRY(add_not(elements, keywords));
  return add_enum(elements, keywords);
}

}  // namespace gridmount::query
