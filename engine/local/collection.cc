#include "engine/local/collection.h"

#include "engine/local/cursor.h"
#include "engine/local/unique_lookup.h"
#include "engine/query/filter.h"
#include "engine/query/projection.h"
#include "engine/query/sort.h"

namespace gridmount::local {
namespace {

// prefetch() is a hint; beyond this many records it would cost more than it saves.
constexpr int kPrefetchRecordsMax = 64;

Status check(const engine::FindOptions& options) {
  if (options.skip < 0) {
    return fail(ErrorCode::kBadValue,
                "skip value must be non-negative, but received: " + std::to_string(options.skip));
  }
  if (options.limit < 0) {
    return fail(ErrorCode::kBadValue,
                "limit value must be non-negative, but received: " + std::to_string(options.limit));
  }
  return {};
}

Verify verify_for(const engine::FindOptions& options) {
  return options.partial ? Verify::kBounds : Verify::kChecksum;
}

Result<std::optional<query::Projection>> parse_projection(bson::View specification) {
  if (specification.empty()) return std::optional<query::Projection>();
  GM_ASSIGN(query::Projection projection, query::Projection::parse(specification));
  return std::optional<query::Projection>(std::move(projection));
}

Result<MatchOptions> match_options(const engine::FindOptions& options) {
  MatchOptions match;
  if (!options.sort.empty()) {
    GM_ASSIGN(match.sort, query::Sort::parse(options.sort));
  }
  match.hint = options.hint;
  match.skip = options.skip;
  match.limit = options.limit;
  match.verify = verify_for(options);
  match.sort_bytes_max = options.sort_bytes_max;
  return match;
}

}  // namespace

Result<std::unique_ptr<engine::Cursor>> LocalCollection::find(engine::Snapshot& snapshot,
                                                              bson::View filter,
                                                              const engine::FindOptions& options) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents, contents_of(snapshot, environment_));
  GM_TRY(check(options));
  GM_ASSIGN(query::Filter parsed, query::Filter::parse(filter));
  GM_ASSIGN(MatchOptions match, match_options(options));
  GM_ASSIGN(std::optional<query::Projection> projection, parse_projection(options.projection));
  GM_ASSIGN(const Entry entry, contents->catalog().find(ns_));
  if (!entry) return std::unique_ptr<engine::Cursor>(std::make_unique<EmptyCursor>());
  GM_ASSIGN(std::unique_ptr<MatchStream> matches,
            MatchStream::open(contents, entry, std::move(parsed), std::move(match)));
  return std::unique_ptr<engine::Cursor>(
      std::make_unique<FindCursor>(std::move(matches), std::move(projection)));
}

Result<std::optional<bson::View>> LocalCollection::find_one(engine::Snapshot& snapshot,
                                                            bson::View filter,
                                                            const engine::FindOptions& options) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents, contents_of(snapshot, environment_));
  GM_ASSIGN(const Entry entry, contents->catalog().find(ns_));
  const bool plain = entry && options.sort.empty() && options.projection.empty() &&
                     options.skip == 0 && options.limit >= 0 && !options.hint;
  if (plain) {
    if (const std::optional<UniqueLookup> lookup = unique_lookup(*entry, filter)) {
      const Trees& trees = contents->trees();
      GM_ASSIGN(const std::optional<RecordId> id, find_unique(trees, *entry, *lookup));
      if (!id) return std::optional<bson::View>();
      GM_ASSIGN(const bson::View document, read_document(trees, *entry, *id, verify_for(options)));
      return std::optional(document);
    }
  }
  GM_TRY(check(options));
  GM_ASSIGN(query::Filter parsed, query::Filter::parse(filter));
  GM_ASSIGN(MatchOptions match, match_options(options));
  match.limit = 1;
  GM_ASSIGN(std::optional<query::Projection> projection, parse_projection(options.projection));
  if (!entry) return std::optional<bson::View>();
  GM_ASSIGN(const std::unique_ptr<MatchStream> matches,
            MatchStream::open(contents, entry, std::move(parsed), std::move(match)));
  GM_ASSIGN(const std::optional<Match> found, matches->next());
  if (!found) return std::optional<bson::View>();
  if (!projection) return std::optional(found->document);
  return std::optional(contents->keep(projection->apply(found->document)));
}

Result<int64_t> LocalCollection::count(engine::Snapshot& snapshot, bson::View filter) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents, contents_of(snapshot, environment_));
  GM_ASSIGN(const query::Filter parsed, query::Filter::parse(filter));
  GM_ASSIGN(const Entry entry, contents->catalog().find(ns_));
  if (!entry) return int64_t{0};
  if (filter.empty()) {
    GM_ASSIGN(const Counts counts, contents->catalog().counts(*entry));
    return counts.documents;
  }
  return count_matches(contents, entry, parsed);
}

void LocalCollection::prefetch(engine::Snapshot& snapshot, bson::View filter) {
  // A hint has nobody to report errors to; the read that follows meets them again.
  const Result<std::shared_ptr<Contents>> opened = contents_of(snapshot, environment_);
  if (!opened) return;
  Contents& contents = **opened;
  const Result<Entry> entry = contents.catalog().find(ns_);
  if (!entry || !*entry) return;
  const auto ask_for = [&](RecordId id) {
    const auto record = get_record(contents.trees(), (*entry)->records, id);
    if (record && *record) local::will_need((*record)->data(), (*record)->size());
  };
  if (const std::optional<UniqueLookup> lookup = unique_lookup(**entry, filter)) {
    const Result<std::optional<RecordId>> id = find_unique(contents.trees(), **entry, *lookup);
    if (id && *id) ask_for(**id);
    return;
  }
  const Result<query::Filter> parsed = query::Filter::parse(filter);
  if (!parsed) return;
  const Result<query::Plan> plan =
      query::make_plan(*parsed, nullptr, (*entry)->definitions, (*entry)->multikey, std::nullopt);
  if (!plan) return;
  const std::unique_ptr<Scan> scan = make_scan(contents.shared_trees(), *entry, *plan, 0);
  for (int i = 0; i < kPrefetchRecordsMax; ++i) {
    const Result<std::optional<Candidate>> candidate = scan->next();
    if (!candidate || !*candidate) return;
    ask_for((*candidate)->id);
  }
}

Result<std::vector<query::IndexDefinition>> LocalCollection::indexes(engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents, contents_of(snapshot, environment_));
  GM_ASSIGN(const Entry entry, contents->catalog().find(ns_));
  if (!entry) return std::vector<query::IndexDefinition>();
  return entry->definitions;
}

Result<engine::CollectionStats> LocalCollection::stats(engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents, contents_of(snapshot, environment_));
  GM_ASSIGN(const Entry entry, contents->catalog().find(ns_));
  engine::CollectionStats stats;
  if (!entry) return stats;
  GM_ASSIGN(const Counts counts, contents->catalog().counts(*entry));
  stats.documents = counts.documents;
  stats.document_bytes = counts.document_bytes;
  stats.index_count = static_cast<int64_t>(entry->indexes.size());
  return stats;
}

}  // namespace gridmount::local
