// How a schema's keywords are parsed, by family. Internal to json_schema*.cc.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/filter/json_schema.h"

namespace gridmount::query {

// The elements of a schema by keyword.
class SchemaElements {
 public:
  SchemaElements(bson::View schema, int depth) : schema_(schema), depth_(depth) {}

  // Unknown, unsupported and repeated keywords are FailedToParse.
  Status check() const;
  std::optional<bson::Element> find(std::string_view keyword) const;
  // Of the schemas within.
  Result<JsonSchema> parse_below(bson::View schema) const {
    return JsonSchema::parse(schema, depth_ + 1);
  }

 private:
  bson::View schema_;
  int depth_;
};

using SchemaKeywords = std::vector<std::unique_ptr<SchemaKeyword>>;

// Each adds what it finds of its family.
Status parse_scalar_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_array_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_property_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_object_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_logical_keywords(const SchemaElements& elements, SchemaKeywords& keywords);
Status parse_type_keyword(const SchemaElements& elements, SchemaKeywords& keywords);

// "$jsonSchema keyword 'x' ..." with that code.
tl::unexpected<Error> refuse_keyword(ErrorCode code, std::string_view keyword,
                                     std::string_view what);

// A keyword that remembers how it was written, for explanations.
class SpecifiedKeyword : public SchemaKeyword {
 public:
  explicit SpecifiedKeyword(const bson::Element& element) : name_(element.key) {
    bson::Builder builder;
    builder.append(element.key, element.value);
    specification_ = std::move(builder).finish();
  }

 protected:
  // Opens {operatorName, specifiedAs, reason, ...; the caller closes it.
  void open_failure(FailureBuilder& failures, std::string_view reason) const {
    failures.out().push_open_document().append("operatorName", name_);
    append_specification(failures);
    failures.out().append("reason", reason);
  }
  void append_specification(FailureBuilder& failures) const {
    failures.append_value("specifiedAs", bson::Value(specification_.view()));
  }
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

// The value with the fields of documents in the order of their names, at all depths: schemas take
// documents for equal whatever the order of their fields.
bson::Value with_sorted_fields(bson::ValueView value);

}  // namespace gridmount::query
