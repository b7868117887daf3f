// The query planner: finds the plans that answer a filter with the indexes of a collection.
//
// Thread-safe: pure functions of the filter, the sort and the index definitions.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/query/collation/collator.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/index_definition.h"
#include "engine/query/plan/plan.h"
#include "engine/query/sort.h"

namespace gridmount::query {

// Returns the best plan. It has conditions that allow only single values (such as equality and $in)
// for the most leading fields of its index. Among plans that are equal in this, one with a range on
// the next field wins, then one that reads the documents in the order of the sort. If no index
// helps, the plan reads the whole collection.
//
// `sort` may be null. `hint` is an index name, a key pattern, or {$natural: 1 or -1}, with which
// the plan reads the whole collection forwards or backwards. Fails with BadValue if no index, or
// only a hidden one, fits the hint, or if $natural has another value, with IndexNotFound if several
// fit, and with FailedToParse if the hint is neither a string nor a document. `multikey[i]` means
// that some document has an array under the paths of index i. Two conditions on one field of such
// an index are not combined into one range, and its order is not used for a sort. `collator` is
// that of the query. Bounds with strings are searched for, and strings sorted, only in an index
// with the same collation.
Result<Plan> make_plan(const Filter& filter, const Sort* sort,
                       const std::vector<IndexDefinition>& indexes,
                       const std::vector<bool>& multikey, const std::optional<bson::Value>& hint,
                       const Collator* collator = nullptr);

// Returns the best plan, and then every other plan that reads one index and has a condition on the
// first field of this index. The store measures which of the plans reads least. Returns only the
// best plan if there is a hint, or if the best plan can find only one document. Fails as
// make_plan() does.
Result<std::vector<Plan>> make_plans(const Filter& filter, const Sort* sort,
                                     const std::vector<IndexDefinition>& indexes,
                                     const std::vector<bool>& multikey,
                                     const std::optional<bson::Value>& hint,
                                     const Collator* collator = nullptr);

}  // namespace gridmount::query
