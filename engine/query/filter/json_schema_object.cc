// Keywords for documents: required, minProperties, maxProperties, dependencies. The keywords for
// their properties are in json_schema_properties.cc.

#include <algorithm>
#include <iterator>

#include "engine/query/filter/filter_number.h"
#include "engine/query/filter/json_schema_keyword.h"

namespace gridmount::query {
namespace {

using bson::Element;
using bson::Type;
using bson::ValueView;

class RequiredKeyword : public SpecifiedKeyword {
 public:
  // `names` must be sorted.
  RequiredKeyword(const Element& element, std::vector<std::string> names)
      : SpecifiedKeyword(element), names_(std::move(names)) {}

  bool allows(ValueView value, MatchContext&) const override {
    if (value.type() != Type::kDocument) return true;
    constexpr size_t kFew = 8;
    const bson::View document = value.as_document();
    if (names_.size() <= kFew) {
      return std::all_of(names_.begin(), names_.end(),
                         [&](const std::string& name) { return document.find(name).has_value(); });
    }
    const std::vector<bool> present = presence(document);
    return std::find(present.begin(), present.end(), false) == present.end();
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    bson::Builder& out = failures.out();
    out.push_open_document().append("operatorName", name());
    append_specification(failures);
    out.open_array("missingProperties");
    const std::vector<bool> present = presence(value.as_document());
    for (size_t i = 0; i < names_.size(); ++i) {
      if (!present[i]) out.push(bson::Value(names_[i]));
    }
    out.close().close();
  }

 private:
  // Returns for each name whether the document has it, in one walk over the document.
  std::vector<bool> presence(bson::View document) const {
    std::vector<bool> present(names_.size());
    for (const Element element : document) {
      const auto at = std::lower_bound(names_.begin(), names_.end(), element.key);
      if (at != names_.end() && *at == element.key) {
        present[static_cast<size_t>(at - names_.begin())] = true;
      }
    }
    return present;
  }

  std::vector<std::string> names_;
};

int32_t number_of_fields(bson::View document) {
  return static_cast<int32_t>(std::distance(document.begin(), document.end()));
}

class PropertyCountKeyword : public SpecifiedKeyword {
 public:
  PropertyCountKeyword(const Element& element, int64_t count)
      : SpecifiedKeyword(element), count_(count), is_minimum_(element.key == "minProperties") {}

  bool allows(ValueView value, MatchContext&) const override {
    if (value.type() != Type::kDocument) return true;
    const int32_t count = number_of_fields(value.as_document());
    return is_minimum_ ? count >= count_ : count <= count_;
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    open_failure(failures, "specified number of properties was not satisfied");
    failures.out().append("numberOfProperties", number_of_fields(value.as_document())).close();
  }

 private:
  int64_t count_;
  bool is_minimum_;
};

// If a document has the property, it must also have the others, or match the schema.
struct Dependency {
  std::string property;
  std::vector<std::string> others;
  std::optional<JsonSchema> schema;

  bool allows(ValueView value, MatchContext& context) const {
    const bson::View document = value.as_document();
    if (!document.find(property)) return true;
    if (schema) return schema->allows(value, context);
    return std::all_of(others.begin(), others.end(),
                       [&](const std::string& other) { return document.find(other).has_value(); });
  }
};

class DependenciesKeyword : public SchemaKeyword {
 public:
  explicit DependenciesKeyword(std::vector<Dependency> dependencies)
      : dependencies_(std::move(dependencies)) {}

  bool allows(ValueView value, MatchContext& context) const override {
    return value.type() != Type::kDocument ||
           std::all_of(
               dependencies_.begin(), dependencies_.end(),
               [&](const Dependency& dependency) { return dependency.allows(value, context); });
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    bson::Builder& out = failures.out();
    out.push_open_document().append("operatorName", "dependencies");
    out.open_array("failingDependencies");
    for (const Dependency& dependency : dependencies_) {
      MatchContext context;
      if (dependency.allows(value, context)) continue;
      out.push_open_document().append("conditionalProperty", dependency.property);
      if (dependency.schema) {
        out.open_array("details");
        dependency.schema->explain(value, failures);
      } else {
        out.open_array("missingProperties");
        for (const std::string& other : dependency.others) {
          if (!value.as_document().find(other)) out.push(bson::Value(other));
        }
      }
      out.close().close();
    }
    out.close().close();
  }

 private:
  std::vector<Dependency> dependencies_;
};

std::string type_name(ValueView value) {
  return std::string(bson::type_alias(value.type()));
}

Status add_required(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("required");
  if (!element) return {};
  if (element->value.type() != Type::kArray) {
    return refuse_keyword(
        ErrorCode::kTypeMismatch, element->key,
        "must be an array, but found an element of type " + type_name(element->value));
  }
  std::vector<std::string> names;
  for (const Element name : element->value.as_document()) {
    if (name.value.type() != Type::kString) {
      return refuse_keyword(
          ErrorCode::kTypeMismatch, element->key,
          "must be an array of strings, but found an element of type: " + type_name(name.value));
    }
    names.emplace_back(name.value.as_string());
  }
  if (names.empty()) {
    return refuse_keyword(ErrorCode::kFailedToParse, element->key, "cannot be an empty array");
  }
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
    return refuse_keyword(ErrorCode::kFailedToParse, element->key,
                          "array cannot contain duplicate values");
  }
  keywords.push_back(std::make_unique<RequiredKeyword>(*element, std::move(names)));
  return {};
}

Status add_property_count(const SchemaElements& elements, std::string_view name,
                          SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find(name);
  if (!element) return {};
  GM_ASSIGN(const int64_t count, non_negative_integer(element->key, element->value));
  keywords.push_back(std::make_unique<PropertyCountKeyword>(*element, count));
  return {};
}

Result<std::vector<std::string>> dependent_names(const Element& dependency) {
  const std::string place =
      "'" + std::string(dependency.key) + "' in $jsonSchema keyword 'dependencies' ";
  std::vector<std::string> others;
  for (const Element other : dependency.value.as_document()) {
    if (other.value.type() != Type::kString) {
      return fail(ErrorCode::kTypeMismatch,
                  "array " + place + "can only contain strings, but found element of type: " +
                      type_name(other.value));
    }
    others.emplace_back(other.value.as_string());
  }
  if (others.empty()) {
    return fail(ErrorCode::kFailedToParse, "property " + place + "cannot be an empty array");
  }
  std::vector<std::string> sorted = others;
  std::sort(sorted.begin(), sorted.end());
  const auto duplicate = std::adjacent_find(sorted.begin(), sorted.end());
  if (duplicate != sorted.end()) {
    return fail(ErrorCode::kFailedToParse,
                "array " + place + "contains duplicate element: " + *duplicate);
  }
  return others;
}

Status add_dependencies(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("dependencies");
  if (!element) return {};
  if (element->value.type() != Type::kDocument) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key, "must be an object");
  }
  std::vector<Dependency> dependencies;
  for (const Element dependency : element->value.as_document()) {
    Dependency parsed;
    parsed.property = dependency.key;
    if (dependency.value.type() == Type::kDocument) {
      GM_ASSIGN(parsed.schema, elements.parse_below(dependency.value.as_document()));
    } else if (dependency.value.type() == Type::kArray) {
      GM_ASSIGN(parsed.others, dependent_names(dependency));
    } else {
      return fail(ErrorCode::kTypeMismatch,
                  "property '" + parsed.property +
                      "' in $jsonSchema keyword 'dependencies' must be either an object or an "
                      "array");
    }
    dependencies.push_back(std::move(parsed));
  }
  keywords.push_back(std::make_unique<DependenciesKeyword>(std::move(dependencies)));
  return {};
}

}  // namespace

Status parse_object_keywords(const SchemaElements& elements, SchemaKeywords& keywords) {
  GM_TRY(add_required(elements, keywords));
  GM_TRY(add_property_count(elements, "minProperties", keywords));
  GM_TRY(add_property_count(elements, "maxProperties", keywords));
  return add_dependencies(elements, keywords);
}

}  // namespace gridmount::query
