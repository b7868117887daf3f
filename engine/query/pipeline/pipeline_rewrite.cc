#include "engine/query/pipeline/pipeline_rewrite.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/query/pipeline/basic_stages.h"
#include "engine/query/pipeline/lookup_stage.h"

namespace gridmount::query {
namespace {

template <typename Kind>
Kind* as(const std::unique_ptr<Stage>& stage) {
  return dynamic_cast<Kind*>(stage.get());
}

int64_t saturated_sum(int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

// Filtering first leaves fewer documents to sort.
void move_matches_before_sorts(ParsedStages& stages) {
  for (size_t i = 1; i < stages.size(); ++i) {
    if (as<MatchStage>(stages[i]) == nullptr) continue;
    for (size_t at = i; at > 0 && as<SortStage>(stages[at - 1]) != nullptr; --at) {
      std::swap(stages[at - 1], stages[at]);
    }
  }
}

// A sort does not need to keep the documents after the end of the $limit that follows it. The
// $limit may follow after $skip stages.
void limit_sorts(ParsedStages& stages) {
  for (size_t i = 0; i < stages.size(); ++i) {
    auto* const sort = as<SortStage>(stages[i]);
    if (sort == nullptr) continue;
    int64_t skipped = 0;
    for (size_t at = i + 1; at < stages.size(); ++at) {
      if (const auto* const skip = as<SkipStage>(stages[at])) {
        skipped = saturated_sum(skipped, skip->count());
      } else {
        if (const auto* const limit = as<LimitStage>(stages[at])) {
          sort->set_limit(static_cast<uint64_t>(saturated_sum(skipped, limit->count())));
        }
        break;
      }
    }
  }
}

void absorb_unwinds(ParsedStages& stages) {
  for (size_t i = 0; i + 1 < stages.size(); ++i) {
    auto* const lookup = as<LookupStage>(stages[i]);
    const auto* const unwind = as<UnwindStage>(stages[i + 1]);
    if (lookup == nullptr || unwind == nullptr || !lookup->absorb(*unwind)) continue;
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

}  // namespace

void rewrite_stages(ParsedStages& stages) {
  move_matches_before_sorts(stages);
  limit_sorts(stages);
  absorb_unwinds(stages);
}

FindRequest request_of(const ParsedStages& stages, size_t& filter_stages, size_t& request_stages) {
  FindRequest request;
  size_t at = 0;
  const auto is_filter = [&](size_t position) {
    const auto* const match = as<MatchStage>(stages[position]);
    return match != nullptr && match->is_for_source();
  };
  while (at < stages.size() && is_filter(at)) ++at;
  filter_stages = at;
  if (at == 1) {
    request.filter = as<MatchStage>(stages[0])->specification();
  } else if (at > 1) {
    bson::Builder filter;
    filter.open_array("$and");
    for (size_t i = 0; i < at; ++i) {
      filter.push(as<MatchStage>(stages[i])->specification().view());
    }
    filter.close();
    request.filter = std::move(filter).finish();
  }
  if (at < stages.size()) {
    if (const auto* const sort = as<SortStage>(stages[at])) {
      request.sort = sort->specification();
      ++at;
    }
  }
  // Any sequence of skips and limits is equivalent to one skip followed by one limit.
  for (; at < stages.size(); ++at) {
    if (const auto* const skip = as<SkipStage>(stages[at])) {
      if (request.limit && *request.limit <= skip->count()) break;
      request.skip = saturated_sum(request.skip, skip->count());
      if (request.limit) *request.limit -= skip->count();
    } else if (const auto* const limit = as<LimitStage>(stages[at])) {
      request.limit = std::min(request.limit.value_or(limit->count()), limit->count());
    } else {
      break;
    }
  }
  request_stages = at;
  return request;
}

}  // namespace gridmount::query
