// Counts the documents that match a filter. Reads documents only if index entries are not
// sufficient.
//
// Thread-safety: not thread-safe. A count is used by the thread that uses its Snapshot or
// Transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/base/error.h"
#include "engine/local/catalog/read_view.h"
#include "engine/local/queries/plan_executor.h"
#include "engine/local/queries/plan_selection.h"
#include "engine/local/queries/scan.h"
#include "engine/query/filter/filter.h"

namespace gridmount::local {

class MatchCount {
 public:
  // Uses only hint, skip, limit, deadline and collator of the options. `filter` must outlive the
  // count. Fails as choose_plan() does.
  static Result<std::unique_ptr<MatchCount>> open(
      std::shared_ptr<ReadView> read_view, std::shared_ptr<const CollectionMetadata> metadata,
      const query::Filter& filter, const MatchOptions& options);

  const ChosenPlan& plan() const { return plan_; }
  // Returns whether the count reads documents. Even if the result is false, the count reads the
  // documents whose index entries are not sufficient, such as entries with truncated keys.
  bool reads_documents() const;
  // Returns whether the count matches index entries against the filter, because the bounds do not
  // express the whole filter.
  bool filters_entries() const { return reader_.has_value() && !plan_.plan.bounds_are_exact; }

  // Returns the number of matches without the first options.skip. Stops after options.skip +
  // options.limit matches. Must be called only once. Fails with MaxTimeMSExpired after the
  // deadline, with DataCorruptionDetected or StoreDamaged for damage, and as Filter::evaluate()
  // does.
  Result<int64_t> run();
  // Returns the stats of run(). `matched` includes the skipped matches, and `given` does not.
  ExecutionStats stats() const;

 private:
  MatchCount(std::shared_ptr<ReadView> read_view,
             std::shared_ptr<const CollectionMetadata> metadata, const query::Filter& filter,
             const MatchOptions& options, ChosenPlan plan);

  // Returns whether the filter matches the work item.
  Result<bool> matches(const WorkItem& item);

  const std::shared_ptr<ReadView> read_view_;
  const std::shared_ptr<const CollectionMetadata> metadata_;
  const query::Filter& filter_;
  const int64_t skip_;
  const int64_t limit_;
  DeadlineWatch watch_;
  const ChosenPlan plan_;
  const std::unique_ptr<Scan> scan_;
  const std::optional<KeyReader> reader_;
  int64_t matched_ = 0;
  int64_t documents_examined_ = 0;
  bson::Document patched_{std::vector<uint8_t>()};  // the document that was examined last
};

}  // namespace gridmount::local
