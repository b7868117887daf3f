// Which plan a query is answered with: of several indexes that bound it, the one that a trial shows
// to read least.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/storage/trees.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/plan.h"
#include "engine/query/sort.h"

namespace gridmount::local {

struct PlanRequest {
  const query::Sort* sort = nullptr;
  std::optional<bson::Value> hint = {};
  bool limited = false;  // only some of the matches are asked for
};

struct ChosenPlan {
  query::Plan plan;
  std::vector<query::Plan> rejected;
};

// The trial reads index entries of all candidates in turns, a few, then four times as many and so
// on, until one has no more; so it costs a small part of what the chosen plan then reads.
// Candidates that are all large are judged by their bounds alone.
Result<ChosenPlan> choose_plan(const std::shared_ptr<Trees>& trees,
                               const std::shared_ptr<const CollectionEntry>& entry,
                               const query::Filter& filter, const PlanRequest& request);

}  // namespace gridmount::local
