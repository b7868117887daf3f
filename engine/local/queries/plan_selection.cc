#include "engine/local/queries/plan_selection.h"

#include <utility>

#include "engine/local/queries/scan.h"
#include "engine/query/plan/planner.h"

namespace gridmount::local {
namespace {

constexpr int64_t kFirstKeys = 16;
constexpr int64_t kKeysGrowth = 4;
constexpr int64_t kKeysMax = 4096;
// Sorting the results of a candidate in a buffer costs about this many times as much as reading
// them.
constexpr int64_t kSortCost = 4;

class Trial {
 public:
  Trial(std::unique_ptr<Scan> scan, bool sorts) : scan_(std::move(scan)), sorts_(sorts) {}

  // Returns whether the scan ends before it has examined `keys` keys, or before `keys` / kSortCost
  // keys if the results must be sorted.
  Result<bool> ends_within(int64_t keys) {
    const int64_t allowed = sorts_ ? keys / kSortCost : keys;
    while (scan_->keys_examined() < allowed) {
      GM_ASSIGN(const std::optional<WorkItem> found, scan_->next());
      if (!found) return true;
    }
    return false;
  }

 private:
  std::unique_ptr<Scan> scan_;
  bool sorts_;  // needs a buffer for the requested order
};

}  // namespace

Result<ChosenPlan> choose_plan(const std::shared_ptr<Trees>& trees,
                               const std::shared_ptr<const CollectionMetadata>& metadata,
                               const query::Filter& filter, const PlanRequest& request) {
  const bool sorted = request.sort != nullptr && !request.sort->empty();
  GM_ASSIGN(std::vector<query::Plan> plans,
            query::make_plans(filter, request.sort, metadata->definitions, metadata->multikey,
                              request.hint, request.collator));
  size_t winner = 0;
  if (plans.size() > 1) {
    std::vector<Trial> items;
    for (const query::Plan& plan : plans) {
      query::Plan unordered = plan;
      unordered.provides_sort = false;  // a trial ignores the order
      items.emplace_back(make_scan(trees, metadata, unordered), sorted && !plan.provides_sort);
    }
    bool decided = false;
    for (int64_t keys = kFirstKeys; keys <= kKeysMax && !decided; keys *= kKeysGrowth) {
      for (size_t i = 0; i < items.size() && !decided; ++i) {
        GM_ASSIGN(decided, items[i].ends_within(keys));
        if (decided) winner = i;
      }
    }
    // A plan in the requested order may find the few requested matches early.
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
