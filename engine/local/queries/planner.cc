#include "engine/local/queries/planner.h"

#include <utility>

#include "engine/local/queries/scan.h"

namespace gridmount::local {
namespace {

constexpr int64_t kFirstKeys = 16;
constexpr int64_t kGrowth = 4;
constexpr int64_t kKeysMax = 4096;
// A buffered sort of what a candidate reads costs about this many times the reading.
constexpr int64_t kSortCost = 4;

class Trial {
 public:
  Trial(std::unique_ptr<Scan> scan, bool sorts) : scan_(std::move(scan)), sorts_(sorts) {}

  // Whether it has no more than so many keys.
  Result<bool> ends_within(int64_t keys) {
    const int64_t allowed = sorts_ ? keys / kSortCost : keys;
    while (scan_->keys_examined() < allowed) {
      GM_ASSIGN(const std::optional<Candidate> found, scan_->next());
      if (!found) return true;
    }
    return false;
  }

 private:
  std::unique_ptr<Scan> scan_;
  bool sorts_;  // needs a buffer for the order asked for
};

}  // namespace

Result<ChosenPlan> choose_plan(const std::shared_ptr<Trees>& trees,
                               const std::shared_ptr<const CollectionEntry>& entry,
                               const query::Filter& filter, const PlanRequest& request) {
  const bool sorted = request.sort != nullptr && !request.sort->empty();
  GM_ASSIGN(
      std::vector<query::Plan> plans,
      query::make_plans(filter, request.sort, entry->definitions, entry->multikey, request.hint));
  size_t winner = 0;
  if (plans.size() > 1) {
    std::vector<Trial> candidates;
    for (const query::Plan& plan : plans) {
      query::Plan unordered = plan;
      unordered.provides_sort = false;  // nobody looks at the order in a trial
      candidates.emplace_back(make_scan(trees, entry, unordered), sorted && !plan.provides_sort);
    }
    bool decided = false;
    for (int64_t keys = kFirstKeys; keys <= kKeysMax && !decided; keys *= kGrowth) {
      for (size_t i = 0; i < candidates.size() && !decided; ++i) {
        GM_ASSIGN(decided, candidates[i].ends_within(keys));
        if (decided) winner = i;
      }
    }
    // In the order asked for, a few of many matches may be found early.
    for (size_t i = 0; sorted && request.limited && !decided && i < plans.size(); ++i) {
      if (!plans[i].provides_sort) continue;
      winner = i;
      decided = true;
    }
  }
  ChosenPlan chosen{std::move(plans[winner]), {}};
  for (size_t i = 0; i < plans.size(); ++i) {
    if (i != winner) chosen.rejected.push_back(std::move(plans[i]));
  }
  return chosen;
}

}  // namespace gridmount::local
