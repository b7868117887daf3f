// How explain shows the read of an index. Source: MongoDB manual, "Explain Results", stages IXSCAN
// and COUNT_SCAN; the text of bounds is that of the server's Interval::toString().
//
// Thread-safety: pure functions.
#pragma once

#include <optional>

#include "engine/bson/builder.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

// Appends {a: ["[1, 1]"], b: ["(inf.0, 5.0]"]}, in the order of the scan.
void append_bounds(bson::Builder& out, const IndexMetadata& index, const query::Plan& plan);

// One contiguous range of keys, from the first to the last.
struct KeyRun {
  bson::Document first;
  bson::Document last;
  bool first_inclusive = true;
  bool last_inclusive = true;
};
// Returns nothing if the plan reads several such ranges.
std::optional<KeyRun> run_of(const IndexMetadata& index, const query::Plan& plan);

// Appends which fields of the paths hold arrays. Appends nothing if that is not known: a multikey
// index records only that some field holds one.
void append_multikey_paths(bson::Builder& out, const IndexMetadata& index);

}  // namespace gridmount::local
