// $jsonSchema: MongoDB's dialect of JSON Schema draft 4. A schema is a list of keywords, and a
// value must satisfy each one. A keyword allows every value of a type that it does not constrain.
// Internal to engine/query.
//
// `bsonType` names BSON types, in addition to `type`, which names JSON's. `integer` is not a type.
// As on servers, parsing fails with FailedToParse both for `$ref`, `$schema`, `default`,
// `definitions`, `format` and `id`, which the message calls unsupported, and for any other keyword,
// which it calls unknown. Property names are field names, not dotted paths.
//
// Source: MongoDB manual, "$jsonSchema" and "Schema Validation". Thread-safety: a schema is
// immutable once parsed, so safe to share between threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/query/filter/filter.h"
#include "engine/query/filter/filter_failure.h"

namespace gridmount::query {

// One keyword of a schema, or two that only have a meaning together. Immutable after construction.
class SchemaKeyword {
 public:
  virtual ~SchemaKeyword() = default;
  virtual bool allows(bson::ValueView value, MatchContext& context) const = 0;
  // Appends the reasons why the keyword does not allow `value`, as documents {operatorName, ...},
  // to the open array.
  virtual void explain(bson::ValueView value, FailureBuilder& failures) const = 0;
};

class JsonSchema {
 public:
  // `depth` counts the schemas and operators around this schema, up to kMaxFilterDepth. Error codes
  // and messages are the server's.
  static Result<JsonSchema> parse(bson::View schema, int depth);

  bool allows(bson::ValueView value, MatchContext& context) const;
  // Appends to the open array of `failures` the reasons of each keyword that does not allow
  // `value`.
  void explain(bson::ValueView value, FailureBuilder& failures) const;
  // Appends {title: ..., description: ...} to an open document, as far as the schema has them.
  void append_annotations(bson::Builder& builder) const;

 private:
  std::vector<std::unique_ptr<SchemaKeyword>> keywords_;
  std::vector<std::pair<std::string, std::string>> annotations_;
};

}  // namespace gridmount::query
