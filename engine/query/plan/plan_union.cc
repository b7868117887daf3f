#include "engine/query/plan/plan_union.h"

#include <string_view>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/query/filter/predicate.h"
#include "engine/query/interruption.h"
#include "engine/query/plan/planner.h"

namespace gridmount::query {
namespace {

// The limit for the number of branches in a union. Each branch has its own position in an index.
// With more branches, a collection scan is better than the memory for the positions.
constexpr size_t kBranchesMax = 10'000;

// For more equalities on one path than kBranchesMax, returns the plan of {path: {$in: [...]}} if
// that plan reads an index.
Result<std::optional<Plan>> plan_list(const Filter& disjunction,
                                      const std::vector<IndexDefinition>& indexes,
                                      const std::vector<bool>& multikey, const Collator* collator) {
  std::optional<std::string_view> path;
  bson::Builder specification;
  for (const Filter& branch : disjunction.children()) {
    GM_TRY(check_interruption());
    if (branch.kind() != Filter::Kind::kPredicate) return std::optional<Plan>();
    const Predicate& predicate = branch.predicate();
    if (predicate.kind() != Predicate::Kind::kEqual || predicate.is_collated()) {
      return std::optional<Plan>();
    }
    if (!path) {
      path = predicate.path().dotted();
      specification.open_document(*path).open_array("$in");
    }
    // $in refuses a document with operators, which $eq takes as a value.
    if (predicate.path().dotted() != *path || is_operator_document(*predicate.operand())) {
      return std::optional<Plan>();
    }
    specification.push(*predicate.operand());
  }
  specification.close().close();
  GM_ASSIGN(const Filter list, Filter::parse(std::move(specification).finish()));
  GM_ASSIGN(Plan plan, make_plan(list, nullptr, indexes, multikey, std::nullopt, collator));
  if (plan.kind == Plan::Kind::kCollectionScan) return std::optional<Plan>();
  return std::optional(std::move(plan));
}

}  // namespace

Result<std::optional<Plan>> plan_union(const Filter& disjunction,
                                       const std::vector<IndexDefinition>& indexes,
                                       const std::vector<bool>& multikey,
                                       const Collator* collator) {
  Plan plan;
  plan.kind = Plan::Kind::kUnion;
  if (disjunction.children().size() > kBranchesMax) {
    return plan_list(disjunction, indexes, multikey, collator);
  }
  for (const Filter& branch : disjunction.children()) {
    GM_TRY(check_interruption());
    GM_ASSIGN(Plan own, make_plan(branch, nullptr, indexes, multikey, std::nullopt, collator));
    if (own.kind == Plan::Kind::kCollectionScan) return std::optional<Plan>();
    plan.branches.push_back(std::move(own));
  }
  return std::optional(std::move(plan));
}

}  // namespace gridmount::query
