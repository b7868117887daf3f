#include "engine/query/plan/plan.h"

#include <algorithm>

#include "engine/bson/compare.h"

namespace gridmount::query {

bool Interval::is_point() const {
  return low_inclusive && high_inclusive && bson::compare(low, high) == 0;
}

bool Plan::is_exact() const {
  if (kind != Kind::kUnion) return bounds_are_exact;
  return std::all_of(branches.begin(), branches.end(),
                     [](const Plan& branch) { return branch.is_exact(); });
}

}  // namespace gridmount::query
