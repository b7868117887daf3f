#include "engine/local/match_stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/local/index_key.h"

namespace gridmount::local {
namespace {

Result<query::Plan> plan_for(const CollectionEntry& entry, const query::Filter& filter,
                             const query::Sort* sort, const std::optional<bson::Value>& hint) {
  return query::make_plan(filter, sort, entry.definitions, entry.multikey, hint);
}

}  // namespace

Result<bson::View> read_document(const Trees& trees, const CollectionEntry& entry, RecordId id,
                                 Verify verify) {
  GM_ASSIGN(const std::optional<std::string_view> record, get_record(trees, entry.records, id));
  if (!record) {
    return fail(ErrorCode::kDataCorruptionDetected,
                entry.ns.full() + ": an index names record " + std::to_string(id) +
                    ", which does not exist; run 'gridstore check'");
  }
  return document_of(*record, verify, entry.ns, id);
}

MatchStream::MatchStream(std::shared_ptr<Contents> contents,
                         std::shared_ptr<const CollectionEntry> entry, query::Filter filter,
                         MatchOptions options, const query::Plan& plan)
    : contents_(std::move(contents)),
      entry_(std::move(entry)),
      filter_(std::move(filter)),
      options_(std::move(options)),
      scan_(make_scan(contents_->shared_trees(), entry_, plan, options_.sort_bytes_max)),
      sorts_(options_.sort.has_value() && !plan.provides_sort),
      to_skip_(options_.skip) {}

Result<std::unique_ptr<MatchStream>> MatchStream::open(std::shared_ptr<Contents> contents,
                                                       std::shared_ptr<const CollectionEntry> entry,
                                                       query::Filter filter, MatchOptions options) {
  if (options.sort && options.sort->empty()) options.sort.reset();
  GM_ASSIGN(const query::Plan plan,
            plan_for(*entry, filter, options.sort ? &*options.sort : nullptr, options.hint));
  return std::unique_ptr<MatchStream>(new MatchStream(std::move(contents), std::move(entry),
                                                      std::move(filter), std::move(options), plan));
}

Result<std::optional<Match>> MatchStream::next() {
  if (options_.limit != 0 && given_ == options_.limit) return std::optional<Match>();
  while (true) {
    GM_ASSIGN(const std::optional<Match> match, sorts_ ? next_sorted() : next_match());
    if (!match) return match;
    if (to_skip_ > 0) {
      --to_skip_;
      continue;
    }
    ++given_;
    return match;
  }
}

Result<std::optional<Match>> MatchStream::next_match() {
  const Trees& trees = contents_->trees();
  while (true) {
    GM_ASSIGN(const std::optional<Candidate> candidate, scan_->next());
    if (!candidate) return std::optional<Match>();
    Match match{candidate->id, bson::View()};
    if (candidate->remembered && trees.writable()) {
      GM_ASSIGN(const std::optional<std::string_view> record,
                get_record(trees, entry_->records, candidate->id));
      if (!record) continue;
    }
    if (candidate->record) {
      GM_ASSIGN(match.document,
                document_of(*candidate->record, options_.verify, entry_->ns, candidate->id));
    } else {
      GM_ASSIGN(match.document, read_document(trees, *entry_, candidate->id, options_.verify));
    }
    if (candidate->certain || filter_.matches(match.document)) return std::optional(match);
  }
}

// Keeps only keys and record ids, and with a limit only as many as will be given.
Status MatchStream::add_sorted(const Match& match) {
  const query::Sort& sort = *options_.sort;
  const std::vector<bson::Value> values = sort.key_of(match.document);
  Sorted sorted{{}, match.id};
  for (size_t i = 0; i < values.size(); ++i) {
    append_encoded(sorted.key, values[i], sort.parts()[i].descending);
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
  if (sorted_bytes_ > options_.sort_bytes_max) {
    return fail(ErrorCode::kQueryExceededMemoryLimit,
                entry_->ns.full() + ": the sort needs more than the " +
                    std::to_string(options_.sort_bytes_max) +
                    " bytes it may use; create an index for it or use a limit");
  }
  sorted_.push_back(std::move(sorted));
  if (bounded) std::push_heap(sorted_.begin(), sorted_.end());
  return {};
}

Status MatchStream::sort_all() {
  while (true) {
    GM_ASSIGN(const std::optional<Match> match, next_match());
    if (!match) break;
    GM_TRY(add_sorted(*match));
  }
  std::sort(sorted_.begin(), sorted_.end());
  gathered_ = true;
  gathered_at_write_ = contents_->trees().writes();
  return {};
}

Result<std::optional<Match>> MatchStream::next_sorted() {
  if (!gathered_) GM_TRY(sort_all());
  const Trees& trees = contents_->trees();
  while (sorted_at_ < sorted_.size()) {
    const RecordId id = sorted_[sorted_at_++].id;
    if (trees.writes() == gathered_at_write_) {
      // Its checksum was verified when its key was read.
      GM_ASSIGN(const bson::View document, read_document(trees, *entry_, id, Verify::kBounds));
      return std::optional(Match{id, document});
    }
    // The transaction has written since: the document may be gone or match no longer.
    GM_ASSIGN(const std::optional<std::string_view> record, get_record(trees, entry_->records, id));
    if (!record) continue;
    GM_ASSIGN(const bson::View document, document_of(*record, options_.verify, entry_->ns, id));
    if (filter_.matches(document)) return std::optional(Match{id, document});
  }
  return std::optional<Match>();
}

Result<int64_t> count_matches(const std::shared_ptr<Contents>& contents,
                              const std::shared_ptr<const CollectionEntry>& entry,
                              const query::Filter& filter) {
  const Trees& trees = contents->trees();
  GM_ASSIGN(const query::Plan plan, plan_for(*entry, filter, nullptr, std::nullopt));
  const std::unique_ptr<Scan> scan = make_scan(contents->shared_trees(), entry, plan, 0);
  int64_t count = 0;
  while (true) {
    GM_ASSIGN(const std::optional<Candidate> candidate, scan->next());
    if (!candidate) return count;
    if (!candidate->certain) {
      bson::View document;
      if (candidate->record) {
        GM_ASSIGN(document,
                  document_of(*candidate->record, Verify::kChecksum, entry->ns, candidate->id));
      } else {
        GM_ASSIGN(document, read_document(trees, *entry, candidate->id, Verify::kChecksum));
      }
      if (!filter.matches(document)) continue;
    }
    ++count;
  }
}

}  // namespace gridmount::local
