// Keywords for the properties of documents: properties, patternProperties, additionalProperties.

#include <algorithm>

#include "engine/query/filter/json_schema_keyword.h"
#include "engine/query/regex.h"

namespace gridmount::query {
namespace {

using bson::Element;
using bson::Type;
using bson::ValueView;

struct Property {
  std::string name;
  JsonSchema schema;
};

// Appends {propertyName: ..., details: [...]} for a property that its schema does not allow.
void explain_property(std::string_view name, const JsonSchema& schema, ValueView value,
                      std::string_view pattern, FailureBuilder& failures) {
  bson::Builder& out = failures.out();
  out.push_open_document().append("propertyName", name);
  schema.append_annotations(out);
  if (!pattern.empty()) out.append("regexMatched", pattern);
  out.open_array("details");
  schema.explain(value, failures);
  out.close().close();
}

class PropertiesKeyword : public SchemaKeyword {
 public:
  // `properties` must be sorted by name.
  explicit PropertiesKeyword(std::vector<Property> properties)
      : properties_(std::move(properties)) {}

  bool allows(ValueView value, MatchContext& context) const override {
    if (value.type() != Type::kDocument) return true;
    for (const Element element : value.as_document()) {
      const Property* const property = find(element.key);
      if (property != nullptr && !property->schema.allows(element.value, context)) return false;
    }
    return true;
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    bson::Builder& out = failures.out();
    out.push_open_document().append("operatorName", "properties");
    out.open_array("propertiesNotSatisfied");
    for (const Element element : value.as_document()) {
      const Property* const property = find(element.key);
      MatchContext context;
      if (property != nullptr && !property->schema.allows(element.value, context)) {
        explain_property(property->name, property->schema, element.value, "", failures);
      }
    }
    out.close().close();
  }

 private:
  const Property* find(std::string_view name) const {
    const auto at = std::lower_bound(
        properties_.begin(), properties_.end(), name,
        [](const Property& property, std::string_view key) { return property.name < key; });
    return at != properties_.end() && at->name == name ? &*at : nullptr;
  }

  std::vector<Property> properties_;
};

// patternProperties and additionalProperties. The latter applies to properties that are not in
// `properties` and match no pattern.
class OtherPropertiesKeyword : public SchemaKeyword {
 public:
  struct Pattern {
    Regex regex;
    JsonSchema schema;
  };

  std::vector<std::string> named;  // sorted
  std::vector<Pattern> patterns;
  bool refuse_additional = false;
  std::optional<JsonSchema> additional;

  bool allows(ValueView value, MatchContext& context) const override {
    if (value.type() != Type::kDocument) return true;
    for (const Element element : value.as_document()) {
      bool known = is_named(element.key);
      for (const Pattern& pattern : patterns) {
        if (!matches(pattern, element.key, context)) continue;
        known = true;
        if (!pattern.schema.allows(element.value, context)) return false;
      }
      if (!known && !allows_additional(element.value, context)) return false;
    }
    return true;
  }

  void explain(ValueView value, FailureBuilder& failures) const override {
    if (refuse_additional) {
      explain_refused(value.as_document(), failures);
    } else if (additional) {
      explain_additional(value.as_document(), failures);
    }
    explain_patterns(value.as_document(), failures);
  }

 private:
  bool is_named(std::string_view name) const {
    return std::binary_search(named.begin(), named.end(), name);
  }
  static bool matches(const Pattern& pattern, std::string_view name, MatchContext& context) {
    Result<bool> matches = pattern.regex.try_match(name);
    if (!matches) context.fail(matches.error());
    return matches.value_or(false);
  }
  bool is_additional(std::string_view name) const {
    MatchContext context;
    return !is_named(name) &&
           std::none_of(patterns.begin(), patterns.end(),
                        [&](const Pattern& pattern) { return matches(pattern, name, context); });
  }
  bool allows_additional(ValueView value, MatchContext& context) const {
    return !refuse_additional && (!additional || additional->allows(value, context));
  }

  void explain_refused(bson::View document, FailureBuilder& failures) const {
    // The names of a document in each of many schemas would take unbounded memory.
    if (failures.too_large()) return;
    bson::Builder names;
    names.open_array("names");
    bool any = false;
    for (const Element element : document) {
      if (!is_additional(element.key)) continue;
      names.push(bson::Value(element.key));
      any = true;
    }
    names.close();
    if (!any) return;
    bson::Builder& out = failures.out();
    out.push_open_document().append("operatorName", "additionalProperties");
    out.open_document("specifiedAs").append("additionalProperties", false).close();
    const bson::Document refused = std::move(names).finish();
    out.append("additionalProperties", refused.view()["names"]).close();
  }

  void explain_additional(bson::View document, FailureBuilder& failures) const {
    for (const Element element : document) {
      MatchContext context;
      if (!is_additional(element.key) || additional->allows(element.value, context)) continue;
      bson::Builder& out = failures.out();
      out.push_open_document().append("operatorName", "additionalProperties");
      additional->append_annotations(out);
      out.append("reason", "at least one additional property did not match the subschema")
          .append("failingProperty", element.key)
          .open_array("details");
      additional->explain(element.value, failures);
      out.close().close();
      return;
    }
  }

  // Appends, for each pattern, the first property that its schema does not allow.
  void explain_patterns(bson::View document, FailureBuilder& failures) const {
    bool opened = false;
    for (const Pattern& pattern : patterns) {
      for (const Element element : document) {
        MatchContext context;
        if (!matches(pattern, element.key, context) ||
            pattern.schema.allows(element.value, context)) {
          continue;
        }
        if (!opened) {
          failures.out().push_open_document().append("operatorName", "patternProperties");
          failures.out().open_array("details");
          opened = true;
        }
        explain_property(element.key, pattern.schema, element.value, pattern.regex.pattern(),
                         failures);
        break;
      }
    }
    if (opened) failures.out().close().close();
  }
};

Status add_properties(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("properties");
  if (!element) return {};
  if (element->value.type() != Type::kDocument) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key, "must be an object");
  }
  std::vector<Property> properties;
  for (const Element property : element->value.as_document()) {
    if (property.value.type() != Type::kDocument) {
      return fail(ErrorCode::kTypeMismatch, "Nested schema for $jsonSchema property '" +
                                                std::string(property.key) + "' must be an object");
    }
    GM_ASSIGN(JsonSchema schema, elements.parse_below(property.value.as_document()));
    properties.push_back({std::string(property.key), std::move(schema)});
  }
  std::sort(properties.begin(), properties.end(),
            [](const Property& a, const Property& b) { return a.name < b.name; });
  keywords.push_back(std::make_unique<PropertiesKeyword>(std::move(properties)));
  return {};
}

Status add_patterns(const SchemaElements& elements, const Element& element,
                    OtherPropertiesKeyword& keyword) {
  if (element.value.type() != Type::kDocument) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element.key, "must be an object");
  }
  for (const Element pattern : element.value.as_document()) {
    if (pattern.value.type() != Type::kDocument) {
      return refuse_keyword(
          ErrorCode::kTypeMismatch, element.key,
          "has property '" + std::string(pattern.key) + "' which is not an object");
    }
    GM_ASSIGN(JsonSchema schema, elements.parse_below(pattern.value.as_document()));
    GM_ASSIGN(Regex regex, Regex::compile(pattern.key, ""));
    keyword.patterns.push_back({std::move(regex), std::move(schema)});
  }
  return {};
}

Status add_other_properties(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> patterns = elements.find("patternProperties");
  const std::optional<Element> additional = elements.find("additionalProperties");
  if (!patterns && !additional) return {};
  auto keyword = std::make_unique<OtherPropertiesKeyword>();
  if (const std::optional<Element> properties = elements.find("properties")) {
    for (const Element property : properties->value.as_document()) {
      keyword->named.emplace_back(property.key);
    }
    std::sort(keyword->named.begin(), keyword->named.end());
  }
  if (patterns) GM_TRY(add_patterns(elements, *patterns, *keyword));
  if (additional) {
    if (additional->value.type() == Type::kBool) {
      keyword->refuse_additional = !additional->value.as_bool();
    } else if (additional->value.type() == Type::kDocument) {
      GM_ASSIGN(keyword->additional, elements.parse_below(additional->value.as_document()));
    } else {
      return refuse_keyword(ErrorCode::kTypeMismatch, additional->key,
                            "must be an object or a boolean");
    }
  }
  keywords.push_back(std::move(keyword));
  return {};
}

}  // namespace

Status parse_property_keywords(const SchemaElements& elements, SchemaKeywords& keywords) {
  GM_TRY(add_properties(elements, keywords));
  return add_other_properties(elements, keywords);
}

}  // namespace gridmount::query
