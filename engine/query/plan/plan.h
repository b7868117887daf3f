// A query plan says which index is read for a filter, and in which intervals. planner.h makes
// plans, and the store executes them.
//
// Plain values, not thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/bson/value.h"

namespace gridmount::query {

// A range of values of one part (field) of an index. Both bounds are always set: MinKey is the
// lowest and MaxKey the highest value.
struct Interval {
  bson::Value low;
  bson::Value high;
  bool low_inclusive = true;
  bool high_inclusive = true;

  bool is_point() const;
};

struct Plan {
  enum class Kind {
    kCollectionScan,  // every record, in the order of insertion, or with `backward` in the reverse
                      // order
    kIndexScan,       // one index
    kUnion,  // one plan for each branch of an $or; a record that two branches find is returned once
  };
  Kind kind = Kind::kCollectionScan;

  size_t index = 0;  // kIndexScan: the index's position in the list of definitions
  // For kIndexScan: for each part of the index from the first part on, the intervals in which the
  // values of this part may be, without overlaps and in ascending order. Parts at the end that have
  // no condition are omitted. Parts after the first part with a range may have bounds too: the scan
  // uses them to skip keys.
  std::vector<std::vector<Interval>> bounds;
  bool backward = false;       // the scan goes from the last key to the first
  bool provides_sort = false;  // the scan returns documents in the requested order
  // True if every document within the bounds matches the filter, so that the filter need not be
  // evaluated. False if the bounds may also include documents that do not match, for example
  // documents with arrays or nulls.
  bool bounds_are_exact = false;

  std::vector<Plan> branches;  // kUnion

  // Returns bounds_are_exact. For a union, returns whether all its branches are exact.
  bool is_exact() const;
};

// Returns whether the bounds of an index scan allow strings in a part of the index, or values that
// may have strings in them. Returns true for a part without bounds.
bool allows_strings(const Plan& plan, size_t part);

}  // namespace gridmount::query
