// Shows in an explanation how a plan reads an index. Source: MongoDB manual, "Explain Results",
// stages IXSCAN and COUNT_SCAN, and for the text of bounds the server's Interval::toString().
//
// Thread-safety: functions without state.
#pragma once

#include <optional>

#include "engine/bson/builder.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

// Returns the key pattern that explain shows. This is the index's own pattern, or for a wildcard
// index the pattern with the path that the plan reads.
bson::Document key_pattern(const IndexMetadata& index, const query::Plan& plan);

// Appends the field `indexBounds`: for each field of the index, the intervals that the plan scans.
// Each interval begins with the value that the scan reaches first. For a text index, the document
// is empty. In an index with a collation, a string is shown by its sort key: CollationKey(0x...).
// Example: {a: ["[1, 1]"], b: ["(inf.0, 5.0]"]}
void append_bounds(bson::Builder& out, const IndexMetadata& index, const query::Plan& plan);

// One contiguous range of keys. `first` and `last` have the values of all fields of the index;
// `first` is the lower end in the order of the index. `first_inclusive` and `last_inclusive` tell
// whether the keys that equal `first` or `last` are in the range.
struct KeyRun {
  bson::Document first;
  bson::Document last;
  bool first_inclusive = true;
  bool last_inclusive = true;
};
// Returns the range that the plan reads. Returns nothing if one range cannot express the bounds of
// the plan, or if the index is a hashed, text or wildcard index.
std::optional<KeyRun> run_of(const IndexMetadata& index, const query::Plan& plan);

// Appends the field `multiKeyPaths`. It lists, for each path of the index, the fields on this path
// that hold arrays. Appends nothing for a multikey index with several paths or a dotted path,
// because such an index records only that some field holds an array. Appends nothing for text and
// wildcard indexes.
void append_multikey_paths(bson::Builder& out, const IndexMetadata& index);

}  // namespace gridmount::local
