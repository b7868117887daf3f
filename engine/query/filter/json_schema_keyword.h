// The functions that parse the keywords of a schema. There is one function for each group of
// keywords: scalars, arrays, properties, objects, logic, and the type. Internal to json_schema*.cc.
//
// Thread-safety: free functions without state. Only the thread that parses the schema may use a
// SchemaElements, or change a SpecifiedKeyword. A finished keyword does not change.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/filter/json_schema.h"

namespace gridmount::query {

// Finds the elements of a schema by their keywords.
class SchemaElements {
 public:
  // The bytes of `schema` must outlive this object. `depth` must be the argument of
  // JsonSchema::parse().
  SchemaElements(bson::View schema, int depth) : schema_(schema), depth_(depth) {}

  // Fails with FailedToParse for unknown, unsupported and repeated keywords.
  Status check() const;
  std::optional<bson::Element> find(std::string_view keyword) const;
  // Parses a schema that is inside this schema.
  Result<JsonSchema> parse_below(bson::View schema) const {
    return JsonSchema::parse(schema, depth_ + 1);
  }

 private:
  bson::View schema_;
  int depth_;
};

using SchemaKeywords = std::vector<std::unique_ptr<SchemaKeyword>>;

// Each of these functions parses the keywords of its group, as far as the schema has them, and adds
// them to `keywords`. Fails with the server's errors if a keyword is malformed.
Status parse_scalar_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_array_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_property_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_object_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_logical_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_type_keyword(const SchemaElements& elements, SchemaKeywords& keywords);

// Returns the error "$jsonSchema keyword '<keyword>' <what>" with the code `code`.
tl::unexpected<Error> refuse_keyword(ErrorCode code, std::string_view keyword,
                                     std::string_view what);

// A keyword that keeps its specification, which the reasons of a failed validation show.
class SpecifiedKeyword : public SchemaKeyword {
 public:
  explicit SpecifiedKeyword(const bson::Element& element) : name_(element.key) {
    bson::Builder builder;
    builder.append(element.key, element.value);
    specification_ = std::move(builder).finish();
  }

 protected:
  // Appends {operatorName, specifiedAs, reason} and leaves the document open. The caller must close
  // it.
  void open_failure(FailureBuilder& failures, std::string_view reason) const {
    failures.out().push_open_document().append("operatorName", name_);
    append_specification(failures);
    failures.out().append("reason", reason);
  }
  void append_specification(FailureBuilder& failures) const {
    failures.append_value("specifiedAs", bson::Value(specification_.view()));
  }
  // Adds a second element to the specification, for a keyword with two elements.
  void specify_also(const bson::Element& element) {
    bson::Builder builder;
    builder.append_all(specification_).append(element.key, element.value);
    specification_ = std::move(builder).finish();
  }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  bson::Document specification_;
};

// Returns the value with the fields of all its documents sorted by name, at all levels. In schemas,
// the order of fields does not matter for the equality of documents.
bson::Value with_sorted_fields(bson::ValueView value);

}  // namespace gridmount::query
