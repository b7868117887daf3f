// How many documents a filter matches, told by index entries alone where they can tell it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/base/error.h"
#include "engine/local/catalog/contents.h"
#include "engine/local/queries/match_stream.h"
#include "engine/local/queries/planner.h"
#include "engine/local/queries/scan.h"
#include "engine/query/filter/filter.h"

namespace gridmount::local {

class MatchCount {
 public:
  // Heeds hint, skip, limit and deadline of the options. `filter` must outlive the count.
  static Result<std::unique_ptr<MatchCount>> open(std::shared_ptr<Contents> contents,
                                                  std::shared_ptr<const CollectionEntry> entry,
                                                  const query::Filter& filter,
                                                  const MatchOptions& options);

  const ChosenPlan& plan() const { return plan_; }
  // Whether documents are read, but for those that entries with long values stand for.
  bool reads_documents() const;
  // Whether index entries are matched, as the bounds do not tell all.
  bool filters_entries() const { return reader_.has_value() && !plan_.plan.bounds_are_exact; }

  // Stops at options.skip + options.limit, and gives what is beyond options.skip. To be called
  // once.
  Result<int64_t> run();
  // What run() took; `matched` is with what was skipped, `given` without.
  MatchFigures figures() const;

 private:
  MatchCount(std::shared_ptr<Contents> contents, std::shared_ptr<const CollectionEntry> entry,
             const query::Filter& filter, const MatchOptions& options, ChosenPlan plan);

  // Whether the filter matches what the scan came by.
  Result<bool> matches(const Candidate& candidate);

  const std::shared_ptr<Contents> contents_;
  const std::shared_ptr<const CollectionEntry> entry_;
  const query::Filter& filter_;
  const int64_t skip_;
  const int64_t limit_;
  DeadlineWatch watch_;
  const ChosenPlan plan_;
  const std::unique_ptr<Scan> scan_;
  const std::optional<KeyReader> reader_;
  int64_t matched_ = 0;
  int64_t documents_examined_ = 0;
};

}  // namespace gridmount::local
