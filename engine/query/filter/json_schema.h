// $jsonSchema: MongoDB's dialect of JSON Schema draft 4. A schema is a list of keywords, and a
// value must satisfy each one. Most keywords apply only to values of certain types, and allow all
// other values. Internal to engine/query.
//
// The keyword `bsonType` takes the names of BSON types, and `type` takes the names of JSON types,
// except `integer`. As on servers, parse() fails with FailedToParse for unsupported keywords
// (`$ref`, `$schema`, `default`, `definitions`, `format`, `id`, `encrypt` and `encryptMetadata`)
// and for unknown keywords. The message says whether the keyword is unsupported or unknown.
// Property names are field names, not dotted paths.
//
// Source: MongoDB manual, "$jsonSchema" and "Schema Validation". Thread-safety: a parsed schema is
// immutable, so thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/query/filter/filter.h"
#include "engine/query/filter/filter_failure.h"

namespace gridmount::query {

// One keyword of a schema, or two keywords that have a meaning only together. Immutable.
class SchemaKeyword {
 public:
  virtual ~SchemaKeyword() = default;
  virtual bool allows(bson::ValueView value, MatchContext& context) const = 0;
  // Appends to the open array of `failures` the reasons why the keyword does not allow `value`, as
  // documents {operatorName, ...}.
  virtual void explain(bson::ValueView value, FailureBuilder& failures) const = 0;
};

class JsonSchema {
 public:
  // `depth` is the number of schemas and operators around this schema. Fails with BadValue if
  // `depth` exceeds kMaxFilterDepth. Error codes and messages are those of servers.
  static Result<JsonSchema> parse(bson::View schema, int depth);

  bool allows(bson::ValueView value, MatchContext& context) const;
  // Calls SchemaKeyword::explain() of each keyword that does not allow `value`.
  void explain(bson::ValueView value, FailureBuilder& failures) const;
  // Appends the fields title and description, as far as the schema has them.
  void append_annotations(bson::Builder& builder) const;

 private:
  std::vector<std::unique_ptr<SchemaKeyword>> keywords_;
  std::vector<std::pair<std::string, std::string>> annotations_;
};

}  // namespace gridmount::query
