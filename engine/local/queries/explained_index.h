// The reading of an index, as explain shows it. Source: MongoDB manual, "Explain Results", stages
// IXSCAN and COUNT_SCAN; the text of bounds is that of the server's Interval::toString().
#pragma once

#include <optional>

#include "engine/bson/builder.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

// {a: ["[1, 1]"], b: ["(inf.0, 5.0]"]}, in the order of the scan.
void append_bounds(bson::Builder& out, const IndexEntry& index, const query::Plan& plan);

// One run of keys, from the first to the last.
struct KeyRun {
  bson::Document first;
  bson::Document last;
  bool first_inclusive = true;
  bool last_inclusive = true;
};
// Nothing if the plan reads several runs.
std::optional<KeyRun> run_of(const IndexEntry& index, const query::Plan& plan);

// Which fields of the path have arrays, if that is known: an index only tells that one has.
void append_multikey_paths(bson::Builder& out, const IndexEntry& index);

}  // namespace gridmount::local
