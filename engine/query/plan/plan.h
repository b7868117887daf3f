// A query plan: which index answers a filter, and over which intervals. planner.h makes plans, and
// the store executes them.
//
// Plain values, not thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/bson/value.h"

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

  size_t index = 0;  // kIndexScan: position in the list of definitions
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

}  // namespace gridmount::query
