// Chooses the plan of a query. If several indexes have bounds for the query, a trial finds the plan
// that reads the fewest entries.
//
// Thread-safety: only the thread that uses the Snapshot or Transaction of the Trees may call
// choose_plan().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/local/storage/trees.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/plan.h"
#include "engine/query/sort.h"

namespace gridmount::local {

struct PlanRequest {
  const query::Sort* sort = nullptr;
  std::optional<bson::Value> hint = {};
  bool limited = false;                       // the caller wants only some of the matches
  const query::Collator* collator = nullptr;  // the collation of the query
};

struct ChosenPlan {
  query::Plan plan;
  std::vector<query::Plan> rejected;
};

// The trial reads index entries of all candidate plans in rounds. After the first round it has read
// 16 entries of each plan, and after each further round four times as many, up to 4096 entries. It
// reads only a quarter as many entries of a plan that does not provide the requested sort. The
// first plan that has no more entries wins. If no plan has won, a limited query gets the first plan
// that provides the requested sort. Otherwise the first plan of query::make_plans() wins. The trial
// reads no documents. Fails as query::make_plans() does, and with the errors of the reads in the
// trial.
Result<ChosenPlan> choose_plan(const std::shared_ptr<Trees>& trees,
                               const std::shared_ptr<const CollectionMetadata>& metadata,
                               const query::Filter& filter, const PlanRequest& request);

}  // namespace gridmount::local
