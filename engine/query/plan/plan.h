// Query plans: which index answers a filter, over which intervals. A pure function of the filter,
// the sort and the indexes' definitions; executing a plan is the store's.
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

// A run of values of one index part. Both bounds are always present (MinKey and MaxKey stand for
// "from the first" and "to the last").
struct Interval {
  bson::Value low;
  bson::Value high;
  bool low_inclusive = true;
  bool high_inclusive = true;

  bool is_point() const;
};

struct Plan {
  enum class Kind {
    kCollectionScan,  // every record, in insertion order
    kIndexScan,       // one index
    kUnion,           // one plan per branch of an $or; a record reached twice counts once
  };
  Kind kind = Kind::kCollectionScan;

  // kIndexScan: per leading index part, the sorted disjoint intervals its values may lie in, in the
  // part's ascending value order. Parts without a condition are left off the end; if the last one
  // listed is not all points, the parts behind it may still carry bounds, which the scan uses to
  // skip.
  size_t index = 0;  // position in the list of definitions given
  std::vector<std::vector<Interval>> bounds;
  bool backward = false;       // scan from high to low
  bool provides_sort = false;  // the scan's order is the sort asked for
  // The filter needs no evaluation on the documents the bounds let through. Never true for bounds
  // whose semantics on arrays or nulls are wider than the filter's.
  bool bounds_are_exact = false;

  std::vector<Plan> branches;  // kUnion

  // bounds_are_exact; of a union, all its branches'.
  bool is_exact() const;
};

// Chooses by bounds: the most leading equality parts, then a range, then a sort without a buffer.
// `hint` is an index name or key pattern; BadValue if no index fits it. `multikey[i]` says that
// some document has an array under index i's paths, which forbids intersecting bounds and sorting
// by later parts. `sort` may be null.
Result<Plan> make_plan(const Filter& filter, const Sort* sort,
                       const std::vector<IndexDefinition>& indexes,
                       const std::vector<bool>& multikey, const std::optional<bson::Value>& hint);

// That plan first, then others that read one index between bounds of its leading part, for a store
// to measure which reads least. Only the first if there is a hint, or if it finds one document at
// most.
Result<std::vector<Plan>> make_plans(const Filter& filter, const Sort* sort,
                                     const std::vector<IndexDefinition>& indexes,
                                     const std::vector<bool>& multikey,
                                     const std::optional<bson::Value>& hint);

}  // namespace gridmount::query
