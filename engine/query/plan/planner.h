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

// Returns the best plan. For each index, counts the leading fields whose conditions allow only
// single values (such as equality and $in). The plan of the index with the largest count is best.
// If the count is the same for several indexes, a plan with a range on the next field is better,
// and then a plan that reads the documents in the order of the sort. If no index has a condition on
// its first field, but each branch of an $or can use an index, the plan is the union of the
// branches' plans. If no index helps, the plan reads the whole collection.
//
// `sort` may be null. `hint` is an index name, a key pattern, or {$natural: 1 or -1}, with which
// the plan reads the whole collection forwards or backwards. Fails with BadValue if no index, or
// only a hidden index, fits the hint, if $natural has another value, or if the filter has $text
// beside a hint. Fails with IndexNotFound if several indexes fit the hint, and with FailedToParse
// if the hint is neither a string nor a document. Fails with NoQueryExecutionPlans (291) if no
// index can answer $text, or if the filter cannot use the text or wildcard index that the hint
// names. `multikey[i]` means that some document has an array under the paths of index i. Two
// conditions on one field of such an index are not combined into one range, and the order of such
// an index is not used for a sort. `collator` is the collator of the query. An index with another
// collation is used neither for conditions on strings nor for a sort of strings. Also fails as
// check_interruption() does.
Result<Plan> make_plan(const Filter& filter, const Sort* sort,
                       const std::vector<IndexDefinition>& indexes,
                       const std::vector<bool>& multikey, const std::optional<bson::Value>& hint,
                       const Collator* collator = nullptr);

// Returns the best plan, and then every other plan that reads one index and has a condition on the
// first field of this index. The store measures which plan reads least. Returns only the best plan
// if there is a hint, if the best plan is a union, or if it can find only one document. Fails as
// make_plan() does.
Result<std::vector<Plan>> make_plans(const Filter& filter, const Sort* sort,
                                     const std::vector<IndexDefinition>& indexes,
                                     const std::vector<bool>& multikey,
                                     const std::optional<bson::Value>& hint,
                                     const Collator* collator = nullptr);

}  // namespace gridmount::query
