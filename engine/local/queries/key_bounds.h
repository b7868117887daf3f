// Key bounds from find's `min` and `max`: the keys from `min` (inclusive) to `max` (exclusive).
// Source: MongoDB manual, "cursor.min()", "cursor.max()"; the error codes are those of the server's
// query planner.
//
// Thread-safety: values and functions without state.
#pragma once

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/query/plan/plan.h"
#include "engine/query/sort.h"

namespace gridmount::local {

// Encoded keys of all parts of an index. An absent value means no limit.
struct KeyBounds {
  std::optional<std::string> low;   // inclusive
  std::optional<std::string> high;  // exclusive
};

struct LimitedPlan {
  // Scans the whole hinted index, in the order of `sort` if the index provides it.
  query::Plan plan;
  KeyBounds limits;
};

// Returns the plan and limits for `min` and `max`. One of the two may be empty. Fails with 51173
// without a hint that names an index, with 51174 unless they name all fields of the index in order,
// and with 51175 unless `min` comes before `max`. Fails with BadValue for a limit longer than
// kEncodedBytesMax: longer keys are truncated and not in the order of their values.
Result<LimitedPlan> limited_plan(const CollectionMetadata& metadata, bson::View min, bson::View max,
                                 const std::optional<bson::Value>& hint, const query::Sort* sort);

}  // namespace gridmount::local
