#include "engine/query/plan/plan.h"

#include <algorithm>

#include "engine/bson/compare.h"

namespace gridmount::query {

bool Interval::is_point() const {
  return low_inclusive && high_inclusive && bson::compare(low, high) == 0;
}

bool allows_strings(const Plan& plan, size_t part) {
  if (part >= plan.bounds.size()) return true;
  const int lowest = bson::canonical_order(bson::Type::kString);
  const int highest = bson::canonical_order(bson::Type::kArray);
  return std::any_of(plan.bounds[part].begin(), plan.bounds[part].end(),
                     [&](const Interval& interval) {
                       return bson::canonical_order(interval.low.type()) <= highest &&
                              bson::canonical_order(interval.high.type()) >= lowest;
                     });
}

bool Plan::is_exact() const {
  if (kind != Kind::kUnion) return bounds_are_exact;
  return std::all_of(branches.begin(), branches.end(),
                     [](const Plan& branch) { return branch.is_exact(); });
}

}  // namespace gridmount::query
