// The schema part of filter_model.h.

#include <cmath>
#include <vector>

#include "tests/engine/query/filter_model.h"

namespace gridmount::query::model {
namespace {

using bson::Element;

std::vector<Element> elements_of(ValueView value) {
  std::vector<Element> elements;
  for (const Element element : value.as_document()) elements.push_back(element);
  return elements;
}

// Compares without regard to the order of fields.
bool are_equal(ValueView a, ValueView b) {
  if (a.type() != b.type() || (a.type() != Type::kDocument && a.type() != Type::kArray)) {
    return bson::compare(a, b) == 0;
  }
  const std::vector<Element> left = elements_of(a);
  if (left.size() != elements_of(b).size()) return false;
  for (const Element& element : left) {
    const auto other = b.as_document().find(element.key);
    if (!other || !are_equal(element.value, *other)) return false;
  }
  return true;
}

size_t allowing(ValueView schemas, ValueView value) {
  size_t count = 0;
  for (const Element& schema : elements_of(schemas)) {
    count += schema_allows(schema.value.as_document(), value) ? 1 : 0;
  }
  return count;
}

bool number_allowed(bson::View schema, std::string_view keyword, ValueView operand,
                    ValueView value) {
  const auto exclusive = [&](const char* name) {
    const auto element = schema.find(name);
    return element && element->as_bool();
  };
  if (keyword == "minimum") {
    return compares(exclusive("exclusiveMinimum") ? "$gt" : "$gte", value, operand);
  }
  if (keyword == "maximum") {
    return compares(exclusive("exclusiveMaximum") ? "$lt" : "$lte", value, operand);
  }
  if (keyword == "multipleOf") return std::fmod(*value.number(), *operand.number()) == 0;
  return true;
}

bool string_allowed(std::string_view keyword, ValueView operand, ValueView value) {
  int64_t length = 0;
  for (const char c : value.as_string()) length += (c & 0xC0) != 0x80 ? 1 : 0;
  if (keyword == "minLength") return length >= *operand.integral();
  if (keyword == "maxLength") return length <= *operand.integral();
  if (keyword == "pattern") return contains_match(value, operand.as_string());
  return true;
}

bool array_allowed(bson::View schema, std::string_view keyword, ValueView operand,
                   ValueView value) {
  const std::vector<Element> items = elements_of(value);
  const auto size = static_cast<int64_t>(items.size());
  if (keyword == "minItems") return size >= *operand.integral();
  if (keyword == "maxItems") return size <= *operand.integral();
  if (keyword == "uniqueItems" && operand.as_bool()) {
    for (size_t i = 0; i < items.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (are_equal(items[i].value, items[j].value)) return false;
      }
    }
  }
  if (keyword == "items" && operand.type() == Type::kDocument) {
    for (const Element& item : items) {
      if (!schema_allows(operand.as_document(), item.value)) return false;
    }
  }
  if (keyword == "items" && operand.type() == Type::kArray) {
    const std::vector<Element> schemas = elements_of(operand);
    for (size_t i = 0; i < std::min(schemas.size(), items.size()); ++i) {
      if (!schema_allows(schemas[i].value.as_document(), items[i].value)) return false;
    }
  }
  const auto own = schema.find("items");
  if (keyword == "additionalItems" && own && own->type() == Type::kArray) {
    for (size_t i = elements_of(*own).size(); i < items.size(); ++i) {
      if (operand.type() == Type::kBool ? !operand.as_bool()
                                        : !schema_allows(operand.as_document(), items[i].value)) {
        return false;
      }
    }
  }
  return true;
}

bool has_pattern_of(bson::View patterns, std::string_view name) {
  for (const Element pattern : patterns) {
    if (std::regex_search(std::string(name), std::regex(std::string(pattern.key)))) return true;
  }
  return false;
}

bool dependency_met(const Element& dependency, ValueView value) {
  if (!value.as_document().find(dependency.key)) return true;
  if (dependency.value.type() == Type::kDocument) {
    return schema_allows(dependency.value.as_document(), value);
  }
  for (const Element& name : elements_of(dependency.value)) {
    if (!value.as_document().find(name.value.as_string())) return false;
  }
  return true;
}

bool document_allowed(bson::View schema, std::string_view keyword, ValueView operand,
                      ValueView value) {
  const std::vector<Element> fields = elements_of(value);
  const auto size = static_cast<int64_t>(fields.size());
  if (keyword == "minProperties") return size >= *operand.integral();
  if (keyword == "maxProperties") return size <= *operand.integral();
  if (keyword == "required") {
    for (const Element& name : elements_of(operand)) {
      if (!value.as_document().find(name.value.as_string())) return false;
    }
  }
  if (keyword == "dependencies") {
    for (const Element& dependency : elements_of(operand)) {
      if (!dependency_met(dependency, value)) return false;
    }
  }
  const auto properties = schema.find("properties");
  const auto patterns = schema.find("patternProperties");
  for (const Element& field : fields) {
    if (keyword == "properties") {
      const auto own = operand.as_document().find(field.key);
      if (own && !schema_allows(own->as_document(), field.value)) return false;
    }
    if (keyword == "patternProperties") {
      for (const Element pattern : operand.as_document()) {
        if (std::regex_search(std::string(field.key), std::regex(std::string(pattern.key))) &&
            !schema_allows(pattern.value.as_document(), field.value)) {
          return false;
        }
      }
    }
    if (keyword == "additionalProperties") {
      if (properties && properties->as_document().find(field.key)) continue;
      if (patterns && has_pattern_of(patterns->as_document(), field.key)) continue;
      if (operand.type() == Type::kBool ? !operand.as_bool()
                                        : !schema_allows(operand.as_document(), field.value)) {
        return false;
      }
    }
  }
  return true;
}

bool any_allowed(std::string_view keyword, ValueView operand, ValueView value) {
  if (keyword == "type" || keyword == "bsonType") {
    if (operand.type() == Type::kString) return has_type(value, operand.as_string());
    for (const Element& type : elements_of(operand)) {
      if (has_type(value, type.value.as_string())) return true;
    }
    return false;
  }
  if (keyword == "enum") {
    for (const Element& one : elements_of(operand)) {
      if (are_equal(one.value, value)) return true;
    }
    return false;
  }
  if (keyword == "allOf") return allowing(operand, value) == elements_of(operand).size();
  if (keyword == "anyOf") return allowing(operand, value) > 0;
  if (keyword == "oneOf") return allowing(operand, value) == 1;
  if (keyword == "not") return !schema_allows(operand.as_document(), value);
  return true;
}

}  // namespace

bool schema_allows(bson::View schema, ValueView value) {
  for (const Element element : schema) {
    bool allowed = any_allowed(element.key, element.value, value);
    if (value.is_number()) {
      allowed = allowed && number_allowed(schema, element.key, element.value, value);
    } else if (value.type() == Type::kString) {
      allowed = allowed && string_allowed(element.key, element.value, value);
    } else if (value.type() == Type::kArray) {
      allowed = allowed && array_allowed(schema, element.key, element.value, value);
    } else if (value.type() == Type::kDocument) {
      allowed = allowed && document_allowed(schema, element.key, element.value, value);
    }
    if (!allowed) return false;
  }
  return true;
}

}  // namespace gridmount::query::model
