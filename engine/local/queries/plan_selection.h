// Chooses the plan of a query. If several indexes bound the query, a trial finds the plan that
// reads least.
//
// Thread-safety: that of the Trees passed in, which belong to one Snapshot or Transaction.
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
  bool limited = false;  // the caller wants only some of the matches
};

struct ChosenPlan {
  query::Plan plan;
  std::vector<query::Plan> rejected;
};

// The trial reads index entries of all candidates in rounds: 16 of each, then four times as many,
// and so on, until one candidate has no more. The trial reads about 4096 entries of each candidate
// at most, and no documents. If no candidate ends within 4096 entries, a limited query takes a plan
// that provides the sort. Otherwise the bounds alone decide.
Result<ChosenPlan> choose_plan(const std::shared_ptr<Trees>& trees,
                               const std::shared_ptr<const CollectionMetadata>& metadata,
                               const query::Filter& filter, const PlanRequest& request);

}  // namespace gridmount::local
