// Query plans: which index answers a filter, and over which intervals. Planning is a pure function
// of the filter, the sort and the index definitions, so it is thread-safe. The store executes
// plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/index_definition.h"
#include "engine/query/sort.h"

namespace gridmount::query {

// A range of values of one index part. Both bounds are always present: MinKey and MaxKey stand for
// the first and the last value.
struct Interval {
  bson::Value low;
  bson::Value high;
  bool low_inclusive = true;
  bool high_inclusive = true;

  bool is_point() const;
};

struct Plan {
  enum class Kind {
    kCollectionScan,  // every record, in insertion order or, if `backward`, in reverse
    kIndexScan,       // one index
    kUnion,  // one plan per branch of an $or; a record found by two branches is returned once
  };
  Kind kind = Kind::kCollectionScan;

  size_t index = 0;  // of kIndexScan: position in the list of definitions
  // For kIndexScan: for each leading index part, the sorted disjoint intervals that its values may
  // lie in, in ascending value order. Trailing parts without a condition are omitted. Parts after
  // the first part with a range may still have bounds: the scan uses them to skip keys.
  std::vector<std::vector<Interval>> bounds;
  bool backward = false;       // scan from high to low
  bool provides_sort = false;  // the scan returns documents in the requested order
  // Every document within the bounds matches the filter, so the filter need not be evaluated. Never
  // true for bounds that are wider than the filter on arrays or nulls.
  bool bounds_are_exact = false;

  std::vector<Plan> branches;  // kUnion

  // Returns bounds_are_exact. For a union, returns whether all its branches are exact.
  bool is_exact() const;
};

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
