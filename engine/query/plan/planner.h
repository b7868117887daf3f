// The query planner: finds the plans that answer a filter with the indexes of a collection.
//
// Thread-safe: pure functions of the filter, the sort and the index definitions.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/index_definition.h"
#include "engine/query/plan/plan.h"
#include "engine/query/sort.h"

namespace gridmount::query {

// Plans are ranked by the number of leading parts bounded to points, then by a range on the next
// part, then by whether they provide the sort without a buffer. Returns the best.
//
// `sort` may be null. `hint` is an index name or a key pattern. Fails with BadValue if no index
// fits the hint. `multikey[i]` means that some document has an array under the paths of index i.
// Then bounds are not intersected, and the index does not provide a sort.
Result<Plan> make_plan(const Filter& filter, const Sort* sort,
                       const std::vector<IndexDefinition>& indexes,
                       const std::vector<bool>& multikey, const std::optional<bson::Value>& hint);

// Returns the best plan, followed by other plans that read one index within bounds of its leading
// part. The store measures which of them reads least. Returns only the best plan if there is a
// hint, or if that plan finds at most one document.
Result<std::vector<Plan>> make_plans(const Filter& filter, const Sort* sort,
                                     const std::vector<IndexDefinition>& indexes,
                                     const std::vector<bool>& multikey,
                                     const std::optional<bson::Value>& hint);

}  // namespace gridmount::query
