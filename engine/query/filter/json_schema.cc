#include "engine/query/filter/json_schema.h"

#include <algorithm>
#include <array>

#include "engine/query/filter/json_schema_keyword.h"
#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Element;
using bson::Type;
using bson::ValueView;

constexpr std::string_view kKeywords[] = {"additionalItems",
                                          "additionalProperties",
                                          "allOf",
                                          "anyOf",
                                          "bsonType",
                                          "dependencies",
                                          "description",
                                          "enum",
                                          "exclusiveMaximum",
                                          "exclusiveMinimum",
                                          "items",
                                          "maxItems",
                                          "maxLength",
                                          "maxProperties",
                                          "maximum",
                                          "minItems",
                                          "minLength",
                                          "minProperties",
                                          "minimum",
                                          "multipleOf",
                                          "not",
                                          "oneOf",
                                          "pattern",
                                          "patternProperties",
                                          "properties",
                                          "required",
                                          "title",
                                          "type",
                                          "uniqueItems"};

// Keywords of draft 4 that servers do not support, and the server's keywords for client-side
// encryption.
constexpr std::string_view kUnsupported[] = {"$ref",   "$schema", "default", "definitions",
                                             "format", "id",      "encrypt", "encryptMetadata"};

template <size_t kSize>
bool contains(const std::string_view (&names)[kSize], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

void append_sorted(std::string_view name, ValueView value, bson::Builder& builder);

void append_sorted_fields(bson::View document, bson::Builder& builder) {
  std::vector<Element> fields;
  for (const Element element : document) fields.push_back(element);
  std::stable_sort(fields.begin(), fields.end(),
                   [](const Element& a, const Element& b) { return a.key < b.key; });
  for (const Element& field : fields) append_sorted(field.key, field.value, builder);
}

// Recursion is bounded by the nesting of documents.
void append_sorted(std::string_view name, ValueView value, bson::Builder& builder) {
  if (value.type() == Type::kDocument) {
    builder.open_document(name);
    append_sorted_fields(value.as_document(), builder);
    builder.close();
  } else if (value.type() == Type::kArray) {
    bson::Builder elements;
    for (const Element element : value.as_document()) {
      append_sorted(element.key, element.value, elements);
    }
    builder.append_array(name, std::move(elements).finish());
  } else {
    builder.append(name, value);
  }
}

}  // namespace

bson::Value with_sorted_fields(ValueView value) {
  if (value.type() != Type::kDocument && value.type() != Type::kArray) return bson::Value(value);
  bson::Builder builder;
  append_sorted("", value, builder);
  return bson::Value((*std::move(builder).finish().view().begin()).value);
}

tl::unexpected<Error> refuse_keyword(ErrorCode code, std::string_view keyword,
                                     std::string_view what) {
  return fail(code, "$jsonSchema keyword '" + std::string(keyword) + "' " + std::string(what));
}

Status SchemaElements::check() const {
  std::array<bool, std::size(kKeywords)> seen{};
  for (const Element element : schema_) {
    if (contains(kUnsupported, element.key)) {
      return refuse_keyword(ErrorCode::kFailedToParse, element.key, "is not currently supported");
    }
    const auto* const found = std::find(std::begin(kKeywords), std::end(kKeywords), element.key);
    if (found == std::end(kKeywords)) {
      return fail(ErrorCode::kFailedToParse,
                  "Unknown $jsonSchema keyword: " + std::string(element.key));
    }
    bool& was_seen = seen[static_cast<size_t>(found - std::begin(kKeywords))];
    if (was_seen) {
      return fail(ErrorCode::kFailedToParse,
                  "Duplicate $jsonSchema keyword: " + std::string(element.key));
    }
    was_seen = true;
  }
  return {};
}

std::optional<Element> SchemaElements::find(std::string_view keyword) const {
  for (const Element element : schema_) {
    if (element.key == keyword) return element;
  }
  return std::nullopt;
}

Result<JsonSchema> JsonSchema::parse(bson::View schema, int depth) {
  GM_TRY(check_depth(depth));
  const SchemaElements elements(schema, depth);
  GM_TRY(elements.check());
  JsonSchema parsed;
  for (const std::string_view name : {"title", "description"}) {
    const std::optional<Element> element = elements.find(name);
    if (!element) continue;
    if (element->value.type() != Type::kString) {
      return refuse_keyword(ErrorCode::kTypeMismatch, name, "must be of type string");
    }
    parsed.annotations_.emplace_back(name, element->value.as_string());
  }
  // The keywords are parsed in the server's order, which is also their order in explanations.
  GM_TRY(parse_scalar_keywords(elements, parsed.keywords_));
  GM_TRY(parse_array_keywords(elements, parsed.keywords_));
  GM_TRY(parse_property_keywords(elements, parsed.keywords_));
  GM_TRY(parse_object_keywords(elements, parsed.keywords_));
  GM_TRY(parse_logical_keywords(elements, parsed.keywords_));
  GM_TRY(parse_type_keyword(elements, parsed.keywords_));
  return parsed;
}

bool JsonSchema::allows(ValueView value, MatchContext& context) const {
  if (context.has_ended(value.size())) return true;
  return std::all_of(keywords_.begin(), keywords_.end(),
                     [&](const auto& keyword) { return keyword->allows(value, context); });
}

void JsonSchema::explain(ValueView value, FailureBuilder& failures) const {
  for (const std::unique_ptr<SchemaKeyword>& keyword : keywords_) {
    MatchContext context;
    if (!keyword->allows(value, context)) keyword->explain(value, failures);
  }
}

void JsonSchema::append_annotations(bson::Builder& builder) const {
  for (const auto& [name, text] : annotations_) builder.append(name, text);
}

}  // namespace gridmount::query
