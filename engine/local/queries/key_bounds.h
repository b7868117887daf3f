// Computes the bounds of keys for the options `min` (inclusive) and `max` (exclusive) of find.
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

// Bounds for the encoded keys of an index. A missing value means no bound.
struct KeyBounds {
  std::optional<std::string> low;   // inclusive
  std::optional<std::string> high;  // exclusive
};

struct LimitedPlan {
  // A scan of the whole hinted index, in the order of `sort` if the index has this order.
  query::Plan plan;
  KeyBounds limits;
};

// Returns the plan and the limits for `min` and `max`. Either `min` or `max` may be empty. Fails
// with 51173 if there is no hint or if it is {$natural: 1 or -1}. Fails as query::make_plan() does
// if the hint fits no index, or fits a text index. Fails with 51174 if `min` or `max` does not have
// exactly the fields of the index in the order of the index. Also fails with 51174 if one of their
// values depends on the order of strings, and the index does not have the collation of the query.
// Fails with 51175 if both are given and `min` is not before `max`. Fails with BadValue if the
// encoding of `min` or `max` is longer than kEncodedBytesMax, because longer keys are truncated,
// and the order of truncated keys may differ from the order of the values.
Result<LimitedPlan> limited_plan(const CollectionMetadata& metadata, bson::View min, bson::View max,
                                 const std::optional<bson::Value>& hint, const query::Sort* sort,
                                 const query::Collator* collator);

}  // namespace gridmount::local
