// The rules for the keys of an index: the fields of the index (its parts), and the documents that
// it leaves out. index_key_spec() parses the rules from the definition of the index, and checks
// them.
//
// Thread-safety: functions without state.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/dotted_path.h"
#include "engine/bson/value.h"
#include "engine/query/collation/collator.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/index_definition.h"
#include "engine/query/plan/wildcard_index_definition.h"
#include "engine/query/text/text_index_spec.h"

namespace gridmount::local {

struct IndexPart {
  bson::Path path;
  bool descending = false;
  bool hashed = false;
  bool text = false;        // the terms of a text index
  bool text_score = false;  // the scores of these terms
  // True for the first part of a wildcard index, which has the paths. The second part has the
  // values at these paths.
  bool wildcard_path = false;
  query::SharedCollator collator = nullptr;  // of the index; null: compared as bytes
};

// Appends the encoding that a value has in this part of an index key. In a hashed part, this is the
// encoding of the value's hash. A `value` of nullopt stands for a field that the document lacks.
// `part` must not have the scores of a text index.
void append_part(std::string& out, const IndexPart& part,
                 const std::optional<bson::ValueView>& value);

// Tells which documents have entries in an index, and which of their values form the keys.
struct IndexKeySpec {
  std::vector<IndexPart> parts;
  bool sparse = false;
  std::shared_ptr<const query::Filter> partial;      // null: all documents
  query::SharedCollator collator = nullptr;          // of the index; each part with values has it
  std::shared_ptr<const query::TextIndexSpec> text;  // null: not a text index
  // Null: not a wildcard index.
  std::shared_ptr<const query::WildcardPaths> wildcard;

  // Returns the version of the library that makes the keys: Collator::library_version() for an
  // index with a collation, text_rules_version() for a text index, and an empty text for any other
  // index. An index that was made with another version must be built again.
  std::string library_version() const;
};

inline constexpr size_t kMaxIndexParts = 32;

// Parses a definition such as {a: 1, "b.c": -1, d: "hashed"}, {"$**": 1}, or the complete
// definition of a text index (query/plan/text_index_definition.h). Fails with:
// - CannotCreateIndex for no parts, a value that is neither "hashed" nor a number (0 and NaN are
//   refused too), an empty name in a path, a path that is given twice, a name that begins with '$'
//   (except the fields of a DBRef below another field), an unsupported kind of index, an incomplete
//   definition of a text index, and an operator in the partial filter that MongoDB refuses there.
// - MongoDB's own codes for more than kMaxIndexParts parts (13103), several hashed parts (31303)
//   and a unique hashed index (16764).
// - the errors of query::Collator::parse(), query::Filter::parse(), query::TextIndexSpec::parse()
//   and query::check_wildcard_index().
Result<IndexKeySpec> index_key_spec(const query::IndexDefinition& definition);

}  // namespace gridmount::local
