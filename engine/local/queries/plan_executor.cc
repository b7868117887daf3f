#include "engine/local/queries/plan_executor.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "engine/local/catalog/patched_records.h"
#include "engine/local/catalog/records.h"
#include "engine/local/format/index_key_encoding.h"
#include "engine/local/queries/observation.h"
#include "engine/local/queries/plan_selection.h"
#include "engine/query/interruptible_sort.h"
#include "engine/query/text/text_query.h"

namespace gridmount::local {
namespace {

constexpr ErrorCode kQueryPlanKilled{175};
constexpr ErrorCode kCappedPositionLost{136};

// Returns whether the index has at most one entry per document, ordered by `path` first. Entries
// with the same value are then adjacent, and one of them is enough for all. Returns false for an
// index with a collation, because different strings may have the same entry.
bool leads_with(const IndexMetadata& index, std::string_view path) {
  const IndexPart& first = index.rules.parts.front();
  return !index.multikey && index.rules.text == nullptr && !first.hashed &&
         first.collator == nullptr && first.path.dotted() == path;
}

// Returns whether the plan may skip all but the first of the entries with the same value of
// options.distinct_path. If the query has no condition, this may replace the plan with a scan of an
// index that allows it.
bool choose_distinct(const CollectionMetadata& metadata, const MatchOptions& options,
                     ChosenPlan& chosen) {
  const std::string_view path = options.distinct_path;
  if (path.empty() || options.sort || options.skip != 0 || options.limit != 0) return false;
  query::Plan& plan = chosen.plan;
  if (plan.kind == query::Plan::Kind::kIndexScan) {
    return plan.bounds_are_exact && plan.bounds.size() <= 1 && !plan.backward &&
           leads_with(metadata.indexes[plan.index], path);
  }
  const bool reads_all =
      plan.kind == query::Plan::Kind::kCollectionScan && plan.bounds_are_exact && !options.hint;
  if (!reads_all) return false;
  std::optional<size_t> shortest;
  for (size_t i = 0; i < metadata.indexes.size(); ++i) {
    const IndexMetadata& index = metadata.indexes[i];
    const bool has_all = !index.rules.sparse && !index.rules.partial && index.is_readable();
    if (!has_all || !leads_with(index, path)) continue;
    if (shortest && metadata.indexes[*shortest].rules.parts.size() <= index.rules.parts.size()) {
      continue;
    }
    shortest = i;
  }
  if (!shortest) return false;
  plan = query::Plan();
  plan.kind = query::Plan::Kind::kIndexScan;
  plan.index = *shortest;
  plan.bounds_are_exact = true;
  return true;
}

// Returns the branch of an $or that has the $text of the filter.
const query::Filter& branch_with_text(const query::Filter& filter) {
  for (const query::Filter& child : filter.children()) {
    if (child.text_query() == nullptr) continue;
    return filter.kind() == query::Filter::Kind::kOr ? child : branch_with_text(child);
  }
  return filter;
}

}  // namespace

std::optional<KeyReader> covering_reader(const CollectionMetadata& metadata,
                                         const query::Plan& plan, const query::Filter& filter,
                                         const std::vector<std::string>& paths) {
  if (plan.kind != query::Plan::Kind::kIndexScan) return std::nullopt;
  const IndexMetadata& index = metadata.indexes[plan.index];
  if (index.multikey) return std::nullopt;
  std::set<std::string> needed(paths.begin(), paths.end());
  filter.add_paths(needed);
  for (size_t i = 0; i < index.rules.parts.size(); ++i) {
    if (index.rules.collator != nullptr && query::allows_strings(plan, i)) continue;
    needed.erase(index.rules.parts[i].path.dotted());
  }
  if (!needed.empty()) return std::nullopt;
  return KeyReader(index);
}

Status DeadlineWatch::look() const {
  if (std::chrono::steady_clock::now() <= *deadline_) return {};
  return fail(ErrorCode::kMaxTimeMsExpired, "operation exceeded time limit");
}

Result<std::string_view> read_record(const Trees& trees, const CollectionMetadata& metadata,
                                     RecordId id) {
  GM_ASSIGN(const std::optional<std::string_view> record, get_record(trees, metadata.records, id));
  if (!record) {
    return fail(ErrorCode::kDataCorruptionDetected,
                metadata.ns.full() + ": an index names record " + std::to_string(id) +
                    ", which does not exist; run 'gridstore check --repair'");
  }
  return *record;
}

Result<bson::View> read_document(ReadView& read_view, const CollectionMetadata& metadata,
                                 RecordId id, Verify verify) {
  const Trees& trees = read_view.trees();
  GM_ASSIGN(const std::string_view value, read_record(trees, metadata, id));
  bson::Document patched((std::vector<uint8_t>()));
  GM_ASSIGN(const bson::View document,
            whole_document_of(trees, metadata.ns, metadata.records, id, value, verify, patched));
  const bool is_patched = document.data() == patched.view().data();
  return is_patched ? read_view.keep(std::move(patched)) : document;
}

PlanExecutor::PlanExecutor(std::shared_ptr<ReadView> read_view,
                           std::shared_ptr<const CollectionMetadata> metadata, query::Filter filter,
                           MatchOptions options, ChosenPlan plan, bool distinct)
    : read_view_(std::move(read_view)),
      metadata_(std::move(metadata)),
      filter_(std::move(filter)),
      options_(std::move(options)),
      plan_(std::move(plan)),
      scan_(make_scan(read_view_->shared_trees(), metadata_, plan_.plan,
                      {options_.sort_bytes_max, options_.limits, options_.tailable, distinct,
                       options_.text_score})),
      observer_(read_view_->observer()),
      watch_(options_.deadline),
      resumptions_seen_(read_view_->trees().resumptions()),
      sorts_(options_.sort.has_value() && !plan_.plan.provides_sort),
      distinct_(distinct),
      to_skip_(options_.skip) {
  keyspaces_.push_back(metadata_->records);
  add_keyspaces(*metadata_, plan_.plan, keyspaces_);
  // For a lookup by _id alone, servers read the document, even if the index would suffice.
  if (options_.only_paths && !sorts_ && !options_.by_id) {
    reader_ = covering_reader(*metadata_, plan_.plan, filter_, *options_.only_paths);
    covered_ = reader_.has_value();
  }
  if (!reader_ && !plan_.plan.bounds_are_exact) {
    reader_ = covering_reader(*metadata_, plan_.plan, filter_, {});
  }
  if (to_skip_ == 0) expect_records();
}

void PlanExecutor::expect_records() {
  if (!covered_ && (!reader_ || plan_.plan.bounds_are_exact)) scan_->will_read_records();
}

Result<std::optional<bool>> PlanExecutor::match_entry(const WorkItem& item) {
  if (item.certain && skips_entries()) return std::optional(true);
  if (!reader_ || item.encoded.empty()) return std::optional<bool>();
  if (item.certain && !covered_) return std::optional(true);
  std::optional<bson::Document> document = reader_->read(item.encoded, item.kinds);
  if (!document) return std::optional<bool>();
  entry_document_ = *std::move(document);
  if (item.certain) return std::optional(true);
  GM_ASSIGN(const bool matches, filter_.evaluate(entry_document_));
  return std::optional(matches);
}

Status PlanExecutor::check_resumption() {
  const Trees& trees = read_view_->trees();
  if (trees.resumptions() == resumptions_seen_) return {};
  resumptions_seen_ = trees.resumptions();
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> now,
            read_view_->catalog().find(metadata_->ns));
  const auto killed = [&](const char* why) {
    return fail(kQueryPlanKilled, metadata_->ns.full() + ": the query's plan was killed: " + why);
  };
  if (!now || now->records != metadata_->records) return killed("the collection is gone");
  for (size_t i = 1; i < keyspaces_.size(); ++i) {
    const bool is_there =
        std::any_of(now->indexes.begin(), now->indexes.end(),
                    [&](const IndexMetadata& index) { return index.keyspace == keyspaces_[i]; });
    if (!is_there) return killed("an index it reads is gone");
  }
  if (options_.tailable) {
    GM_ASSIGN(const bool has_place, scan_->has_place());
    if (!has_place) {
      return fail(
          kCappedPositionLost,
          metadata_->ns.full() + ": the documents at the cursor's position have been overwritten");
    }
  }
  return {};
}

Result<std::unique_ptr<PlanExecutor>> PlanExecutor::open(
    std::shared_ptr<ReadView> read_view, std::shared_ptr<const CollectionMetadata> metadata,
    query::Filter filter, MatchOptions options) {
  if (options.tailable && !metadata->settings.capped) {
    return fail(ErrorCode::kBadValue,
                metadata->ns.full() + ": tailable cursor requested on non capped collection");
  }
  if (options.sort && options.sort->empty()) options.sort.reset();
  if (options.sort && options.sort->uses_text_score()) options.text_score = true;
  const bool searches_text = filter.text_query() != nullptr;
  if (options.text_score && !searches_text) return query::text_score_unavailable();
  if (searches_text && (!options.min.empty() || !options.max.empty())) {
    return fail(ErrorCode::kBadValue, "text and hint not allowed in same query");
  }
  const query::Sort* const sort = options.sort ? &*options.sort : nullptr;
  ChosenPlan chosen;
  if (options.min.empty() && options.max.empty()) {
    GM_ASSIGN(chosen,
              choose_plan(read_view->shared_trees(), metadata, filter,
                          {sort, options.hint, options.limit != 0, options.collator.get()}));
  } else {
    GM_ASSIGN(LimitedPlan limited, limited_plan(*metadata, options.min, options.max, options.hint,
                                                sort, options.collator.get()));
    chosen.plan = std::move(limited.plan);
    options.limits = std::move(limited.limits);
  }
  const bool distinct = choose_distinct(*metadata, options, chosen);
  if (!options.distinct_path.empty()) {
    options.only_paths.emplace({std::string(options.distinct_path)});
  }
  const bool by_id = !distinct && options.by_id &&
                     chosen.plan.kind == query::Plan::Kind::kIndexScan && chosen.plan.index == 0;
  if (by_id) {
    record_by_id(*read_view, *metadata);
  } else {
    record_plan(*read_view, *metadata, chosen.plan, distinct);
  }
  std::unique_ptr<PlanExecutor> stream(new PlanExecutor(std::move(read_view), std::move(metadata),
                                                        std::move(filter), std::move(options),
                                                        std::move(chosen), distinct));
  stream->by_id_ = by_id;
  return stream;
}

void PlanExecutor::notify_observer() {
  record_examined(observer_.get(), keys_examined() - keys_recorded_,
                  documents_examined_ - documents_recorded_);
  keys_recorded_ = keys_examined();
  documents_recorded_ = documents_examined_;
}

Result<std::optional<Match>> PlanExecutor::next() {
  Result<std::optional<Match>> match = next_unreported();
  notify_observer();
  return match;
}

Result<std::optional<Match>> PlanExecutor::next_unreported() {
  if (options_.limit != 0 && given_ == options_.limit) return std::optional<Match>();
  GM_TRY(check_resumption());
  while (true) {
    GM_ASSIGN(const std::optional<Match> match, sorts_ ? next_sorted() : next_match());
    if (!match) return match;
    if (to_skip_ > 0) {
      if (--to_skip_ == 0) expect_records();
      continue;
    }
    ++given_;
    return match;
  }
}

ExecutionStats PlanExecutor::stats() const {
  return {scan_->counts(), scan_->branches(),   documents_examined_,
          matched_,        sorted_bytes_total_, given_};
}

Result<std::optional<Match>> PlanExecutor::next_match() {
  Result<std::optional<Match>> match = read_match();
  if (match && *match) ++matched_;
  return match;
}

Result<std::optional<Match>> PlanExecutor::read_match() {
  const Trees& trees = read_view_->trees();
  while (true) {
    GM_ASSIGN(const std::optional<WorkItem> item, scan_->next());
    if (!item) return std::optional<Match>();
    GM_TRY(watch_.check());
    GM_ASSIGN(const std::optional<bool> matched, match_entry(*item));
    if (matched && !*matched) continue;
    if (matched && skips_entries()) return std::optional(Match{item->id, bson::View()});
    if (matched && covered_) return std::optional(Match{item->id, entry_document_.view()});
    Match match{item->id, bson::View()};
    if (item->remembered && trees.writes() != 0) {
      GM_ASSIGN(const std::optional<std::string_view> record,
                get_record(trees, metadata_->records, item->id));
      if (!record) continue;
    }
    if (item->record) {
      GM_ASSIGN(match.document, read(item->id, *item->record, options_.verify));
    } else {
      GM_ASSIGN(const std::string_view value, read_record(trees, *metadata_, item->id));
      GM_ASSIGN(match.document, read(item->id, value, options_.verify));
    }
    ++documents_examined_;
    bool matches = item->certain || matched.has_value();
    if (!matches) {
      GM_ASSIGN(matches, filter_.evaluate(match.document));
    }
    if (!matches) continue;
    if (options_.text_score) match.text_score = text_score_of(*item, match.document);
    if (!sorts_) match.document = returned(match.document);
    return std::optional(match);
  }
}

std::optional<double> PlanExecutor::text_score_of(const WorkItem& item, bson::View document) const {
  // Another branch of an $or may have found the document.
  const bool may_differ = plan_.plan.kind == query::Plan::Kind::kUnion;
  if (may_differ && !branch_with_text(filter_).matches(document)) return std::nullopt;
  return item.text_score ? item.text_score : filter_.text_query()->score_of(document);
}

Result<bson::View> PlanExecutor::read(RecordId id, std::string_view value, Verify verify) {
  return whole_document_of(read_view_->trees(), metadata_->ns, metadata_->records, id, value,
                           verify, patched_);
}

bson::View PlanExecutor::returned(bson::View document) {
  const bool is_patched = document.data() == patched_.view().data();
  if (!is_patched || options_.one_at_a_time) return document;
  return read_view_->keep(std::move(patched_));
}

// Keeps only sort keys, record ids and text scores. With a limit, keeps only the first
// options_.skip + options_.limit.
Status PlanExecutor::add_sorted(const Match& match) {
  const query::Sort& sort = *options_.sort;
  GM_ASSIGN(const std::vector<bson::Value> values, sort.key_of(match.document, match.text_score));
  Sorted sorted{{}, match.id, match.text_score};
  for (size_t i = 0; i < values.size(); ++i) {
    bson::append_key_string(sorted.key, values[i], sort.parts()[i].descending,
                            sort.collator().get());
  }
  const bool bounded =
      options_.limit != 0 && options_.limit <= std::numeric_limits<int64_t>::max() - options_.skip;
  if (bounded && static_cast<int64_t>(sorted_.size()) == options_.skip + options_.limit) {
    if (sorted >= sorted_.front()) return {};
    std::pop_heap(sorted_.begin(), sorted_.end());
    sorted_bytes_ -= sorted_.back().key.size() + sizeof(Sorted);
    sorted_.pop_back();
  }
  sorted_bytes_ += sorted.key.size() + sizeof(Sorted);
  sorted_bytes_total_ += static_cast<int64_t>(sorted.key.size() + sizeof(Sorted));
  if (sorted_bytes_ > options_.sort_bytes_max) {
    return query::sort_memory_exceeded(options_.sort_bytes_max);
  }
  sorted_.push_back(std::move(sorted));
  if (bounded) std::push_heap(sorted_.begin(), sorted_.end());
  return {};
}

Status PlanExecutor::sort_all() {
  while (true) {
    GM_ASSIGN(const std::optional<Match> match, next_match());
    if (!match) break;
    GM_TRY(add_sorted(*match));
  }
  GM_TRY(query::sort_interruptibly(sorted_, std::less<>()));
  gathered_ = true;
  gathered_at_write_ = read_view_->trees().writes();
  return {};
}

Result<std::optional<Match>> PlanExecutor::next_sorted() {
  if (!gathered_) GM_TRY(sort_all());
  const Trees& trees = read_view_->trees();
  while (sorted_at_ < sorted_.size()) {
    const Sorted& sorted = sorted_[sorted_at_++];
    const RecordId id = sorted.id;
    if (trees.writes() == gathered_at_write_) {
      // The checksum was verified when the sort key was read.
      GM_ASSIGN(const std::string_view value, read_record(trees, *metadata_, id));
      GM_ASSIGN(const bson::View document, read(id, value, Verify::kBounds));
      return std::optional(Match{id, returned(document), sorted.text_score});
    }
    // The transaction has written since: the document may be gone, or may not match any more.
    GM_ASSIGN(const std::optional<std::string_view> record,
              get_record(trees, metadata_->records, id));
    if (!record) continue;
    GM_ASSIGN(const bson::View document, read(id, *record, options_.verify));
    GM_ASSIGN(const bool matches, filter_.evaluate(document));
    if (matches) return std::optional(Match{id, returned(document), sorted.text_score});
  }
  return std::optional<Match>();
}

}  // namespace gridmount::local
