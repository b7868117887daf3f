// Executes the plans of find, update, remove and findAndModify. A PlanExecutor returns the
// documents that match a filter one by one, in the requested order.
//
// Thread-safety: not thread-safe. An executor must be used by the thread that uses its Snapshot or
// Transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/bson/document.h"
#include "engine/local/catalog/read_view.h"
#include "engine/local/format/index_value.h"
#include "engine/local/format/record.h"
#include "engine/local/queries/plan_selection.h"
#include "engine/local/queries/scan.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/plan.h"
#include "engine/query/sort.h"

namespace gridmount::local {

struct Match {
  RecordId id = 0;
  // Valid as S5 in engine/store.h says. If PlanExecutor::covered(), or with
  // MatchOptions::one_at_a_time, the document is valid only until the next call of next(), and only
  // while the executor exists.
  bson::View document;
  // The score of the text search. Set only with MatchOptions::text_score. Unset if the document
  // matches the filter only by a branch of an $or that has no text search.
  std::optional<double> text_score = {};
};

struct MatchOptions {
  std::optional<query::Sort> sort;
  std::optional<bson::Value> hint;
  int64_t skip = 0;
  int64_t limit = 0;  // 0: no limit
  Verify verify = Verify::kChecksum;
  uint64_t sort_bytes_max = kOperationBytesMax;
  std::optional<engine::Deadline> deadline = {};
  bool tailable = false;
  // True if is_by_id() is true and the query has the collation of the collection.
  bool by_id = false;
  query::SharedCollator collator = nullptr;                 // the collation of the query
  bool one_at_a_time = false;                               // FindOptions::one_at_a_time
  std::optional<std::vector<std::string>> only_paths = {};  // FindOptions::only_paths
  std::string_view distinct_path = {};  // FindOptions::distinct_path; used by open() only
  // FindOptions::min and max; used by open() only.
  bson::View min = {};
  bson::View max = {};
  KeyBounds limits = {};    // set by open()
  bool text_score = false;  // FindOptions::text_score; open() sets it for a sort by text score
};

// Checks a deadline, and reads the clock only at every 64th call.
class DeadlineWatch {
 public:
  explicit DeadlineWatch(std::optional<engine::Deadline> deadline)
      : deadline_(std::move(deadline)) {}

  // Must be called for each document or key that is examined.
  Status check() {
    if (!deadline_ || (++calls_ % kCallsPerLook) != 1) return {};
    return look();
  }

 private:
  static constexpr uint32_t kCallsPerLook = 64;
  Status look() const;

  std::optional<engine::Deadline> deadline_;
  uint32_t calls_ = 0;
};

// The stats of an executor: what it has read, matched and returned so far. `branches` points into
// the executor, which must outlive the stats.
struct ExecutionStats {
  ScanCounts scan;
  std::vector<const Scan*> branches;  // the scans of a union's branches, in the order of the plan
  int64_t documents_examined = 0;
  int64_t matched = 0;       // documents that match, including documents that `skip` has left out
  int64_t sorted_bytes = 0;  // bytes that were added to the buffer of a sort
  int64_t given = 0;         // documents that were returned
};

class PlanExecutor {
 public:
  // Chooses the plan. Fails with the errors of choose_plan() and limited_plan(), and with:
  // - 40218 for text scores without a text search
  // - BadValue for `min` or `max` with a text search, and for a tailable read of a collection that
  //   is not capped
  static Result<std::unique_ptr<PlanExecutor>> open(
      std::shared_ptr<ReadView> read_view, std::shared_ptr<const CollectionMetadata> metadata,
      query::Filter filter, MatchOptions options);

  const ChosenPlan& plan() const { return plan_; }
  bool sorts() const { return sorts_; }
  // Returns whether servers call this plan IDHACK.
  bool by_id() const { return by_id_; }
  // Returns whether the results are built from index entries. If an entry does not have the values,
  // next() reads the entry's document.
  bool covered() const { return covered_; }
  // Returns whether the scan skips entries that have the same value as the previous entry.
  bool distinct() const { return distinct_; }
  // Returns whether next() matches index entries before it reads their documents. If an entry does
  // not have the values, next() matches the entry's document.
  bool filters_entries() const { return reader_.has_value(); }
  // Returns whether the scan adds up text scores.
  bool scores_text() const { return options_.text_score; }
  // The stats of all calls of next() so far.
  int64_t keys_examined() const { return scan_->keys_examined(); }
  ExecutionStats stats() const;

  // Returns the next match, or nothing at the end. Fails with DataCorruptionDetected if a document
  // is damaged. After this error, but after no other error, the caller may call next() again, which
  // returns the matches after the damaged document. Fails with MaxTimeMSExpired after the deadline,
  // with QueryExceededMemoryLimitNoDiskUseAllowed (292) for a sort that needs more than
  // MatchOptions::sort_bytes_max, and with QueryPlanKilled (175) or CappedPositionLost (136) after
  // a pause, as Snapshot::pause() says. Also fails with StoreDamaged if a page is damaged, and as
  // Filter::evaluate() does.
  Result<std::optional<Match>> next();

 private:
  PlanExecutor(std::shared_ptr<ReadView> read_view,
               std::shared_ptr<const CollectionMetadata> metadata, query::Filter filter,
               MatchOptions options, ChosenPlan plan, bool distinct);

  struct Sorted {
    std::string key;  // the values of the sort, encoded with their directions
    RecordId id;
    std::optional<double> text_score = {};
    friend auto operator<=>(const Sorted&, const Sorted&) = default;
  };

  // Reports to the observer what has been read since the last report.
  void notify_observer();
  Result<std::optional<Match>> next_unreported();
  // Checks, after a pause of the snapshot, that the collection and the indexes of the plan still
  // exist.
  Status check_resumption();
  Result<std::optional<Match>> next_match();
  Result<std::optional<Match>> read_match();
  // Returns whether the next match comes from an index, is not sorted in a buffer, and will be
  // skipped. As on servers, the document of such a match is not read if the index entry shows that
  // the document matches.
  bool skips_entries() const {
    return to_skip_ > 0 && !sorts_ && plan_.plan.kind != query::Plan::Kind::kCollectionScan;
  }
  // Tells the scan that records will be read (Scan::will_read_records()), unless the index entries
  // are enough.
  void expect_records();
  // Matches the filter against an index entry. Returns nothing if the entry does not have the
  // values. Sets entry_document_ to the fields of the entry if the caller needs them.
  Result<std::optional<bool>> match_entry(const WorkItem& item);
  // Returns nothing if the document matches the filter, but not the branch with the text search.
  std::optional<double> text_score_of(const WorkItem& item, bson::View document) const;
  // Reads the document of a record. Patches are applied in patched_, so the view may be valid only
  // until the next call.
  Result<bson::View> read(RecordId id, std::string_view value, Verify verify);
  // Makes a view from read() valid for as long as the caller of next() needs the view.
  bson::View returned(bson::View document);
  Result<std::optional<Match>> next_sorted();
  Status sort_all();
  Status add_sorted(const Match& match);

  std::shared_ptr<ReadView> read_view_;
  std::shared_ptr<const CollectionMetadata> metadata_;
  query::Filter filter_;
  MatchOptions options_;
  const ChosenPlan plan_;
  std::unique_ptr<Scan> scan_;
  const std::shared_ptr<engine::ReadObserver> observer_;
  DeadlineWatch watch_;
  std::vector<Keyspace> keyspaces_;  // the keyspaces that the plan reads
  uint64_t resumptions_seen_;
  int64_t documents_examined_ = 0;
  int64_t matched_ = 0;
  int64_t sorted_bytes_total_ = 0;
  int64_t keys_recorded_ = 0;
  int64_t documents_recorded_ = 0;
  const bool sorts_;                 // the scan does not provide the requested order
  std::optional<KeyReader> reader_;  // reads index entries that have all fields of the filter
  bool covered_ = false;             // index entries have all requested fields
  bool by_id_ = false;
  const bool distinct_;
  bson::Document entry_document_;
  bson::Document patched_{std::vector<uint8_t>()};

  int64_t to_skip_;
  int64_t given_ = 0;
  bool gathered_ = false;
  std::vector<Sorted> sorted_;  // while gathering with a limit: a max-heap
  uint64_t sorted_bytes_ = 0;
  uint64_t gathered_at_write_ = 0;
  size_t sorted_at_ = 0;
};

// Returns a reader of the plan's index entries, if they have all values at `paths` and at the paths
// of the filter. Otherwise returns nothing, in each of these cases:
// - The plan does not scan one index, or the index lacks one of the paths.
// - A document has an array on a path of the index.
// - The index has a collation, and the bounds at one of these paths allow strings. The entries have
//   sort keys in place of strings.
std::optional<KeyReader> covering_reader(const CollectionMetadata& metadata,
                                         const query::Plan& plan, const query::Filter& filter,
                                         const std::vector<std::string>& paths);

// Returns the document of a record whose id comes from an index entry or an earlier search. The
// view is valid as S5 in engine/store.h says. Fails with DataCorruptionDetected if the record does
// not exist or is damaged.
Result<bson::View> read_document(ReadView& read_view, const CollectionMetadata& metadata,
                                 RecordId id, Verify verify);
// Returns the stored value of a record whose id comes from an index entry or an earlier search.
// Fails with DataCorruptionDetected if the record does not exist.
Result<std::string_view> read_record(const Trees& trees, const CollectionMetadata& metadata,
                                     RecordId id);

}  // namespace gridmount::local
