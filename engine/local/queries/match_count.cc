#include "engine/local/queries/match_count.h"

#include <algorithm>
#include <utility>

#include "engine/local/catalog/patched_records.h"
#include "engine/local/queries/observation.h"

namespace gridmount::local {

MatchCount::MatchCount(std::shared_ptr<ReadView> read_view,
                       std::shared_ptr<const CollectionMetadata> metadata,
                       const query::Filter& filter, const MatchOptions& options, ChosenPlan plan)
    : read_view_(std::move(read_view)),
      metadata_(std::move(metadata)),
      filter_(filter),
      skip_(options.skip),
      limit_(options.limit),
      watch_(options.deadline),
      plan_(std::move(plan)),
      scan_(make_scan(read_view_->shared_trees(), metadata_, plan_.plan)),
      reader_(covering_reader(*metadata_, plan_.plan, filter_, {})) {
  if (!reader_ && !plan_.plan.bounds_are_exact) scan_->will_read_records();
}

Result<std::unique_ptr<MatchCount>> MatchCount::open(
    std::shared_ptr<ReadView> read_view, std::shared_ptr<const CollectionMetadata> metadata,
    const query::Filter& filter, const MatchOptions& options) {
  GM_ASSIGN(ChosenPlan chosen, choose_plan(read_view->shared_trees(), metadata, filter,
                                           {nullptr, options.hint, false, options.collator.get()}));
  record_plan(*read_view, *metadata, chosen.plan);
  return std::unique_ptr<MatchCount>(new MatchCount(std::move(read_view), std::move(metadata),
                                                    filter, options, std::move(chosen)));
}

bool MatchCount::reads_documents() const {
  return !reader_ && !plan_.plan.is_exact();
}

Result<bool> MatchCount::matches(const WorkItem& item) {
  if (item.certain) return true;
  if (reader_ && !item.encoded.empty()) {
    const std::optional<bson::Document> read = reader_->read(item.encoded, item.kinds);
    if (read) return filter_.evaluate(*read);
  }
  ++documents_examined_;
  const Trees& trees = read_view_->trees();
  std::string_view value;
  if (item.record) {
    value = *item.record;
  } else {
    GM_ASSIGN(value, read_record(trees, *metadata_, item.id));
  }
  GM_ASSIGN(const bson::View document,
            whole_document_of(trees, metadata_->ns, metadata_->records, item.id, value,
                              Verify::kChecksum, patched_));
  return filter_.evaluate(document);
}

Result<int64_t> MatchCount::run() {
  while (limit_ == 0 || matched_ - skip_ < limit_) {
    GM_ASSIGN(const std::optional<WorkItem> item, scan_->next());
    if (!item) break;
    GM_TRY(watch_.check());
    GM_ASSIGN(const bool match, matches(*item));
    if (match) ++matched_;
  }
  record_examined(read_view_->observer().get(), scan_->keys_examined(), documents_examined_);
  return std::max<int64_t>(0, matched_ - skip_);
}

ExecutionStats MatchCount::stats() const {
  ExecutionStats stats;
  stats.scan = scan_->counts();
  stats.branches = scan_->branches();
  stats.documents_examined = documents_examined_;
  stats.matched = matched_;
  stats.given = std::max<int64_t>(0, matched_ - skip_);
  return stats;
}

}  // namespace gridmount::local
