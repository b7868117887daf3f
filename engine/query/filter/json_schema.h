// $jsonSchema: MongoDB's dialect of JSON Schema draft 4. A schema is a list of keywords, each of
// which a value must satisfy; a keyword lets pass values of types it does not speak about.
// Source: MongoDB manual, "$jsonSchema" and "Schema Validation". Internal to this folder.
//
// `bsonType` names BSON types beside JSON's; `integer` is not a type; `$ref`, `$schema`, `default`,
// `definitions`, `format` and `id` are refused by name, what is not known as unknown (FailedToParse
// both), as servers do. Property names are names of fields and not dotted paths.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/query/filter/filter.h"
#include "engine/query/filter/filter_failure.h"

namespace gridmount::query {

// One keyword of a schema, or two that only mean something together. Thread-safe once made.
class SchemaKeyword {
 public:
  virtual ~SchemaKeyword() = default;
  virtual bool allows(bson::ValueView value, MatchContext& context) const = 0;
  // Why it does not allow `value`: pushes documents {operatorName, ...} to the open array.
  virtual void explain(bson::ValueView value, FailureBuilder& failures) const = 0;
};

class JsonSchema {
 public:
  // `depth` counts schemas in schemas and the operators around, up to kMaxFilterDepth. Codes and
  // messages as the server's.
  static Result<JsonSchema> parse(bson::View schema, int depth);

  bool allows(bson::ValueView value, MatchContext& context) const;
  // Pushes to the open array of `failures` why each keyword that does not allow `value` does not.
  void explain(bson::ValueView value, FailureBuilder& failures) const;
  // {title: ..., description: ...}, as far as the schema has them, to an open document.
  void append_annotations(bson::Builder& builder) const;

 private:
  std::vector<std::unique_ptr<SchemaKeyword>> keywords_;
  std::vector<std::pair<std::string, std::string>> annotations_;
};

}  // namespace gridmount::query
