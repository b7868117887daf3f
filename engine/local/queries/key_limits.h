// The part of an index that find's `min` and `max` leave: keys from one on and before the other.
// Source: MongoDB manual, "cursor.min()", "cursor.max()"; codes as the server's query planner has
// them.
//
// Thread-safety: values and functions without state.
#pragma once

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/query/plan/plan.h"
#include "engine/query/sort.h"

namespace gridmount::local {

// Encoded keys of all parts of an index; nothing is no limit.
struct KeyLimits {
  std::optional<std::string> low;   // inclusive
  std::optional<std::string> high;  // exclusive
};

struct LimitedPlan {
  query::Plan
      plan;  // over the whole of the index that is hinted at, in the order of `sort` if it has it
  KeyLimits limits;
};

// Either may be empty. 51173 without a hint of an index, 51174 unless they name all of its fields
// in order, 51175 unless `min` comes before `max`; BadValue for a limit longer than
// kEncodedBytesMax, behind which keys are not in order.
Result<LimitedPlan> limited_plan(const CollectionEntry& entry, bson::View min, bson::View max,
                                 const std::optional<bson::Value>& hint, const query::Sort* sort);

}  // namespace gridmount::local
