#include "engine/local/collection.h"

#include <algorithm>
#include <chrono>

#include "engine/bson/builder.h"
#include "engine/local/catalog/records.h"
#include "engine/local/catalog/system_collections.h"
#include "engine/local/database.h"
#include "engine/local/queries/cursor.h"
#include "engine/local/queries/explain.h"
#include "engine/local/queries/match_count.h"
#include "engine/local/queries/observation.h"
#include "engine/local/queries/unique_lookup.h"
#include "engine/query/field_path.h"
#include "engine/query/filter/filter.h"
#include "engine/query/filter/variables.h"
#include "engine/query/plan/planner.h"
#include "engine/query/projection/projection.h"
#include "engine/query/sort.h"
#include "engine/system/memory.h"

namespace gridmount::local {

Result<query::SharedCollator> collator_for(bson::View given, const CollectionMetadata* metadata) {
  if (given.empty() && metadata != nullptr) return metadata->collator;
  return query::Collator::parse(given);
}

Result<query::Filter> filter_for(const engine::Namespace& ns, bson::View filter,
                                 bson::View variables, const query::SharedCollator& collator,
                                 const CollectionMetadata* metadata, bool is_upsert) {
  query::TextSource text;
  if (metadata != nullptr && metadata->settings.is_view()) {
    text.search = query::TextSearch::kDoneBySource;
  } else if (metadata != nullptr) {
    text.index = metadata->text_index;
  }
  Result<query::Filter> parsed =
      query::parse_filter(filter, variables, collator, std::move(text), is_upsert);
  if (!parsed && metadata == nullptr && parsed.error().code() == ErrorCode::kIndexNotFound) {
    return fail(ErrorCode::kIndexNotFound,
                parsed.error().message() + " (no such collection '" + ns.full() + "')");
  }
  return parsed;
}

namespace {

// prefetch() is a hint. Beyond this many records it would cost more than it saves.
constexpr int kPrefetchRecordsMax = 64;

constexpr ErrorCode kInvalidPipelineOperator{168};

// Returns the index whose keys are returned instead of documents, or null if no index is read.
Result<const IndexMetadata*> index_of_keys(const CollectionMetadata& metadata,
                                           const query::Plan& plan) {
  if (plan.kind == query::Plan::Kind::kCollectionScan) return nullptr;
  if (plan.kind == query::Plan::Kind::kIndexScan) {
    const IndexMetadata& index = metadata.indexes[plan.index];
    if (!index.multikey && !index.rules.text && !index.rules.wildcard) return &index;
  }
  return fail(ErrorCode::kCommandNotSupported,
              metadata.ns.full() +
                  ": returnKey is not supported for a text or wildcard index, for an index "
                  "with arrays, or for several indexes");
}

constexpr ErrorCode kOutOfRange{51024};

// `options` are those of find or count.
template <typename Options>
Status check(const Options& options) {
  if (options.skip < 0) {
    return fail(kOutOfRange,
                "skip value must be non-negative, but received: " + std::to_string(options.skip));
  }
  if (options.limit < 0) {
    return fail(kOutOfRange,
                "limit value must be non-negative, but received: " + std::to_string(options.limit));
  }
  return {};
}

// Refuses options that need stored documents. Views and the collections of the catalog have no
// natural order and no tailable end. The collections of the catalog have no indexes either.
Status check_without_storage(const engine::Namespace& ns, const engine::FindOptions& options) {
  const auto refuse = [&](const char* what) {
    return fail(ErrorCode::kBadValue, ns.full() + " is not a stored collection: " + what);
  };
  const auto cannot = [](const char* option) {
    return fail(kInvalidPipelineOperator,
                std::string("Option ") + option + " not supported in aggregation.");
  };
  if (options.tailable) {
    return fail(ErrorCode::kInvalidPipelineOperator,
                "Tailable cursors are not supported in aggregation.");
  }
  if (!options.min.empty()) return cannot("min");
  if (!options.max.empty()) return cannot("max");
  if (options.return_key) return cannot("returnKey");
  if (options.show_record_id) return cannot("showRecordId");
  if (options.sort.find("$natural")) return refuse("it has no $natural order");
  if (options.hint && is_catalog_collection(ns)) return refuse("it has no indexes for a hint");
  return {};
}

Verify verify_for(const engine::FindOptions& options) {
  return options.partial ? Verify::kStructure : Verify::kChecksum;
}

Result<std::optional<query::Projection>> parse_projection(const engine::FindOptions& options,
                                                          bson::View filter,
                                                          const query::SharedCollator& collator,
                                                          bool has_text_score) {
  if (options.projection.empty()) return std::optional<query::Projection>();
  GM_ASSIGN(
      query::Projection projection,
      query::Projection::parse(options.projection, {filter, options.variables, bson::Date::now(),
                                                    collator, has_text_score}));
  return std::optional<query::Projection>(std::move(projection));
}

// In a view, the pipeline checks whether the documents have text scores.
bool searches_text(const query::Filter& filter, const CollectionMetadata* metadata) {
  return filter.text_query() != nullptr || (metadata != nullptr && metadata->settings.is_view());
}

// Returns the hint for a collection scan.
bson::Value natural_order(int64_t direction) {
  bson::Builder hint;
  hint.append("$natural", direction);
  return bson::Value(std::move(hint).finish().view());
}

bool is_natural_forward(bson::View sort) {
  const std::optional<bson::ValueView> natural = sort.find("$natural");
  return natural && natural->integral() == 1 && ++sort.begin() == sort.end();
}

Result<MatchOptions> match_options(bson::View filter, const engine::FindOptions& options,
                                   const query::SharedCollator& collator,
                                   const CollectionMetadata* metadata) {
  MatchOptions match;
  match.by_id = is_by_id(filter, options) &&
                query::same_collation(collator.get(),
                                      metadata != nullptr ? metadata->collator.get() : nullptr);
  match.collator = collator;
  match.hint = options.hint;
  if (options.tailable) {
    if (!(options.sort.empty() || is_natural_forward(options.sort)) || options.hint) {
      return fail(ErrorCode::kBadValue,
                  "a tailable cursor allows no sort except {$natural: 1}, and no hint");
    }
    match.tailable = true;
    match.hint = natural_order(1);
  }
  if (const std::optional<bson::ValueView> natural = options.sort.find("$natural")) {
    const std::optional<int64_t> direction = natural->integral();
    if (options.hint || (direction != 1 && direction != -1) ||
        std::next(options.sort.begin()) != options.sort.end()) {
      return fail(ErrorCode::kBadValue,
                  "a sort by $natural is {$natural: 1} or {$natural: -1}, without a hint");
    }
    match.hint = natural_order(*direction);
  } else if (!options.sort.empty()) {
    GM_ASSIGN(query::Sort sort,
              query::Sort::parse(options.sort, collator, query::SortMetadata::kAllowed));
    // Servers do not sort the single document of a lookup by _id either, so parallel arrays in it
    // are no error. A sort by text score is refused later, because there is no search.
    if (!match.by_id || sort.uses_text_score()) match.sort = std::move(sort);
  }
  match.skip = options.skip;
  match.limit = options.limit;
  match.verify = verify_for(options);
  match.sort_bytes_max = options.sort_bytes_max;
  match.deadline = options.deadline;
  match.only_paths = options.only_paths;
  match.one_at_a_time = options.one_at_a_time;
  // With a collation, do not skip index entries, because an index may have different entries for
  // strings that are equal under the collation.
  if (collator == nullptr) match.distinct_path = options.distinct_path;
  match.min = options.min;
  match.max = options.max;
  return match;
}

MatchOptions count_options(const engine::CountOptions& options,
                           const query::SharedCollator& collator) {
  MatchOptions match;
  match.collator = collator;
  match.hint = options.hint;
  match.skip = options.skip;
  match.limit = options.limit;
  match.deadline = options.deadline;
  return match;
}

class Stopwatch {
 public:
  int64_t milliseconds() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 begin_)
        .count();
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

aggregation::Databases LocalCollection::databases() const {
  return [environment = &environment_](std::string_view name) -> std::shared_ptr<engine::Database> {
    return std::make_shared<LocalDatabase>(name, *environment);
  };
}

Result<std::unique_ptr<engine::Cursor>> LocalCollection::find(engine::Snapshot& snapshot,
                                                              bson::View filter,
                                                              const engine::FindOptions& options) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_TRY(check(options));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for(options.collation, metadata.get()));
  GM_ASSIGN(query::Filter parsed,
            filter_for(ns_, filter, options.variables, collator, metadata.get()));
  GM_ASSIGN(MatchOptions match, match_options(filter, options, collator, metadata.get()));
  GM_ASSIGN(std::optional<query::Projection> projection,
            parse_projection(options, filter, collator, searches_text(parsed, metadata.get())));
  if (metadata ? metadata->settings.is_view() : is_catalog_collection(ns_)) {
    GM_TRY(check_without_storage(ns_, options));
  }
  if (metadata && metadata->settings.is_view()) {
    return aggregation::find_in_view(databases(), snapshot, ns_, filter, options);
  }
  if (projection) match.only_paths = projection->included_paths();
  match.text_score = options.text_score || (projection && projection->uses_text_score());
  if (!metadata && is_catalog_collection(ns_)) {
    GM_ASSIGN(std::vector<bson::Document> documents, catalog_documents(read_view->catalog(), ns_));
    return aggregation::find_among(std::move(documents), databases(), snapshot, ns_, filter,
                                   options);
  }
  if (!metadata) {
    record_missing(*read_view);
    return std::unique_ptr<engine::Cursor>(std::make_unique<EmptyCursor>());
  }
  if (options.return_key) match.only_paths.reset();
  GM_ASSIGN(std::unique_ptr<PlanExecutor> matches,
            PlanExecutor::open(read_view, metadata, std::move(parsed), std::move(match)));
  const IndexMetadata* index = nullptr;
  if (options.return_key) {
    GM_ASSIGN(index, index_of_keys(*metadata, matches->plan().plan));
  }
  auto cursor = std::make_unique<FindCursor>(std::move(matches), std::move(projection));
  if (options.return_key) cursor->set_returns_keys(metadata, index);
  if (options.show_record_id) cursor->set_shows_record_ids();
  return std::unique_ptr<engine::Cursor>(std::move(cursor));
}

Result<std::optional<bson::View>> LocalCollection::find_one(engine::Snapshot& snapshot,
                                                            bson::View filter,
                                                            const engine::FindOptions& options) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for(options.collation, metadata.get()));
  const bool of_index =
      !options.min.empty() || !options.max.empty() || options.return_key || options.show_record_id;
  const bool plain = metadata && !metadata->settings.is_view() && !of_index &&
                     options.sort.empty() && options.projection.empty() && options.skip == 0 &&
                     options.limit >= 0 && !options.hint;
  if (plain) {
    if (const std::optional<UniqueLookup> lookup =
            unique_lookup(*metadata, filter, collator.get())) {
      GM_ASSIGN(const std::optional<RecordId> id,
                find_unique(read_view->trees(), *metadata, *lookup));
      record_lookup(*read_view, *metadata, *lookup->index, id.has_value());
      if (!id) return std::optional<bson::View>();
      GM_ASSIGN(const bson::View document,
                read_document(*read_view, *metadata, *id, verify_for(options)));
      GM_TRY(confirm_found(*metadata, *lookup->index, filter, document));
      return std::optional(document);
    }
    if (const std::optional<FirstLookup> lookup = first_lookup(*metadata, filter, collator.get())) {
      GM_ASSIGN(const std::optional<RecordId> id,
                find_first(read_view->shared_trees(), *metadata, *lookup));
      record_lookup(*read_view, *metadata, *lookup->index, id.has_value());
      if (!id) return std::optional<bson::View>();
      GM_ASSIGN(const bson::View document,
                read_document(*read_view, *metadata, *id, verify_for(options)));
      GM_TRY(confirm_found(*metadata, *lookup->index, filter, document));
      return std::optional(document);
    }
  }
  if (of_index || (metadata ? metadata->settings.is_view() : is_catalog_collection(ns_))) {
    return find_one_of_cursor(snapshot, filter, options);
  }
  GM_TRY(check(options));
  GM_ASSIGN(query::Filter parsed,
            filter_for(ns_, filter, options.variables, collator, metadata.get()));
  GM_ASSIGN(MatchOptions match, match_options(filter, options, collator, metadata.get()));
  match.limit = 1;
  GM_ASSIGN(std::optional<query::Projection> projection,
            parse_projection(options, filter, collator, searches_text(parsed, metadata.get())));
  match.text_score = options.text_score || (projection && projection->uses_text_score());
  if (!metadata) {
    record_missing(*read_view);
    return std::optional<bson::View>();
  }
  GM_ASSIGN(const std::unique_ptr<PlanExecutor> matches,
            PlanExecutor::open(read_view, metadata, std::move(parsed), std::move(match)));
  GM_ASSIGN(const std::optional<Match> found, matches->next());
  if (!found) return std::optional<bson::View>();
  if (!projection) return std::optional(found->document);
  GM_ASSIGN(const bson::View projected, projection->apply(found->document, found->text_score));
  return std::optional(read_view->keep(bson::Document(projected)));
}

Result<std::optional<bson::View>> LocalCollection::find_one_of_cursor(
    engine::Snapshot& snapshot, bson::View filter, const engine::FindOptions& options) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  engine::FindOptions one = options;
  one.limit = 1;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor, find(snapshot, filter, one));
  GM_ASSIGN(const std::optional<bson::View> found, cursor->next());
  if (!found) return found;
  return std::optional(read_view->keep(bson::Document(*found)));
}

Result<int64_t> LocalCollection::count(engine::Snapshot& snapshot, bson::View filter,
                                       const engine::CountOptions& options) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_TRY(check(options));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for(options.collation, metadata.get()));
  // As on servers, $text is not an error if the collection does not exist.
  GM_ASSIGN(const query::Filter parsed,
            metadata ? filter_for(ns_, filter, options.variables, collator, metadata.get())
                     : query::parse_filter(filter, options.variables, collator,
                                           {.search = query::TextSearch::kDoneBySource}));
  if (!metadata && !is_catalog_collection(ns_)) {
    record_missing(*read_view);
    return int64_t{0};
  }
  if (!metadata || metadata->settings.is_view()) {
    return aggregation::count_in_view(databases(), snapshot, ns_, filter, options);
  }
  if (filter.empty() && !options.hint) {
    GM_ASSIGN(const Counts counts, read_view->catalog().counts(*metadata));
    const int64_t count = std::max<int64_t>(0, counts.documents - options.skip);
    return options.limit == 0 ? count : std::min(count, options.limit);
  }
  GM_ASSIGN(const std::unique_ptr<MatchCount> matches,
            MatchCount::open(read_view, metadata, parsed, count_options(options, collator)));
  return matches->run();
}

Result<std::vector<bson::Value>> LocalCollection::distinct(engine::Snapshot& snapshot,
                                                           std::string_view path, bson::View filter,
                                                           const engine::DistinctOptions& options) {
  if (path.find('\0') != std::string_view::npos) {
    return fail(ErrorCode{31032}, "Key field cannot contain an embedded null byte");
  }
  engine::FindOptions read;
  read.hint = options.hint;
  read.collation = options.collation;
  read.deadline = options.deadline;
  read.distinct_path = path;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor, find(snapshot, filter, read));
  GM_TRY(query::check_field_path(path));
  // find() has handled views and collections of the catalog.
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for(options.collation, metadata.get()));
  return aggregation::distinct_values(*cursor, path, collator.get());
}

Result<std::unique_ptr<engine::Cursor>> LocalCollection::aggregate(
    engine::Snapshot& snapshot, bson::View stages, const engine::AggregateOptions& options) {
  GM_TRY(read_view_of(snapshot, environment_));
  return aggregation::aggregate(databases(), snapshot, ns_, stages, options);
}

Result<bson::Document> LocalCollection::explain(engine::Snapshot& snapshot, bson::View filter,
                                                const engine::FindOptions& options,
                                                engine::Verbosity verbosity) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_TRY(check(options));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for(options.collation, metadata.get()));
  GM_ASSIGN(query::Filter parsed,
            filter_for(ns_, filter, options.variables, collator, metadata.get()));
  GM_ASSIGN(MatchOptions match, match_options(filter, options, collator, metadata.get()));
  GM_ASSIGN(const std::optional<query::Projection> projection,
            parse_projection(options, filter, collator, searches_text(parsed, metadata.get())));
  if (projection) match.only_paths = projection->included_paths();
  match.text_score = options.text_score || (projection && projection->uses_text_score());
  if (metadata && metadata->settings.is_view()) {
    return aggregation::explain_view(databases(), snapshot, ns_, filter, options, verbosity);
  }
  if (!metadata && is_catalog_collection(ns_)) {
    return fail(ErrorCode::kCommandNotSupported,
                ns_.full() + " is the catalog: there is no plan to explain");
  }
  ExplainedQuery query{ns_, filter, options, metadata.get()};
  query.collator = collator;
  Execution execution;
  const bool executes = verbosity == engine::Verbosity::kExecutionStats;
  if (!metadata) return explanation(query, executes ? &execution : nullptr);
  const Stopwatch watch;
  GM_ASSIGN(const std::unique_ptr<PlanExecutor> matches,
            PlanExecutor::open(read_view, metadata, std::move(parsed), std::move(match)));
  query.plan = &matches->plan();
  query.sorts = matches->sorts();
  query.covered = matches->covered();
  query.distinct = matches->distinct();
  query.filters_entries = matches->filters_entries();
  query.text_score = matches->scores_text();
  query.by_id = matches->by_id();
  if (!executes) return explanation(query, nullptr);
  while (true) {
    GM_ASSIGN(const std::optional<Match> found, matches->next());
    if (!found) break;
  }
  execution = {matches->stats(), watch.milliseconds()};
  return explanation(query, &execution);
}

Result<bson::Document> LocalCollection::explain_count(engine::Snapshot& snapshot, bson::View filter,
                                                      const engine::CountOptions& options,
                                                      engine::Verbosity verbosity) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_TRY(check(options));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for(options.collation, metadata.get()));
  GM_ASSIGN(const query::Filter parsed,
            metadata ? filter_for(ns_, filter, options.variables, collator, metadata.get())
                     : query::parse_filter(filter, options.variables, collator,
                                           {.search = query::TextSearch::kDoneBySource}));
  engine::FindOptions find;
  find.skip = options.skip;
  find.limit = options.limit;
  find.hint = options.hint;
  find.variables = options.variables;
  find.collation = options.collation;
  find.deadline = options.deadline;
  if (metadata ? metadata->settings.is_view() : is_catalog_collection(ns_)) {
    return explain(snapshot, filter, find, verbosity);
  }
  ExplainedQuery query{ns_, filter, find, metadata.get()};
  query.collator = collator;
  query.counts = true;
  Execution execution;
  const bool executes = verbosity == engine::Verbosity::kExecutionStats;
  if (!metadata) return explanation(query, executes ? &execution : nullptr);
  const Stopwatch watch;
  if (filter.empty() && !options.hint) {
    GM_ASSIGN(execution.stats.given, count(snapshot, filter, options));
    GM_ASSIGN(const Counts counts, read_view->catalog().counts(*metadata));
    execution.stats.matched = execution.stats.given + std::min(options.skip, counts.documents);
    execution.milliseconds = watch.milliseconds();
    return explanation(query, executes ? &execution : nullptr);
  }
  GM_ASSIGN(const std::unique_ptr<MatchCount> matches,
            MatchCount::open(read_view, metadata, parsed, count_options(options, collator)));
  query.plan = &matches->plan();
  query.covered = !matches->reads_documents();
  query.filters_entries = matches->filters_entries();
  if (!executes) return explanation(query, nullptr);
  GM_TRY(matches->run());
  execution = {matches->stats(), watch.milliseconds()};
  return explanation(query, &execution);
}

Result<bson::Document> LocalCollection::explain_aggregate(engine::Snapshot& snapshot,
                                                          bson::View stages,
                                                          const engine::AggregateOptions& options,
                                                          engine::Verbosity verbosity) {
  GM_TRY(read_view_of(snapshot, environment_));
  return aggregation::explain_aggregate(databases(), snapshot, ns_, stages, options, verbosity);
}

void LocalCollection::prefetch(engine::Snapshot& snapshot, bson::View filter) {
  // Ignore errors, because this is only a hint. The read that follows meets and reports them.
  const Result<std::shared_ptr<ReadView>> opened = read_view_of(snapshot, environment_);
  if (!opened) return;
  ReadView& read_view = **opened;
  const Result<SharedMetadata> metadata = read_view.catalog().find(ns_);
  if (!metadata || !*metadata) return;
  const auto ask_for = [&](RecordId id) {
    const auto record = get_record(read_view.trees(), (*metadata)->records, id);
    if (record && *record) system::will_need((*record)->data(), (*record)->size());
  };
  if (const std::optional<UniqueLookup> lookup =
          unique_lookup(**metadata, filter, (*metadata)->collator.get())) {
    const Result<std::optional<RecordId>> id = find_unique(read_view.trees(), **metadata, *lookup);
    if (id && *id) ask_for(**id);
    return;
  }
  const query::SharedCollator& collator = (*metadata)->collator;
  const Result<query::Filter> parsed = query::Filter::parse(filter, {.collator = collator});
  if (!parsed) return;
  const Result<query::Plan> plan =
      query::make_plan(*parsed, nullptr, (*metadata)->definitions, (*metadata)->multikey,
                       std::nullopt, collator.get());
  if (!plan) return;
  const std::unique_ptr<Scan> scan = make_scan(read_view.shared_trees(), *metadata, *plan);
  for (int i = 0; i < kPrefetchRecordsMax; ++i) {
    const Result<std::optional<WorkItem>> item = scan->next();
    if (!item || !*item) return;
    ask_for((*item)->id);
  }
}

Result<std::vector<query::IndexDefinition>> LocalCollection::indexes(engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  if (!metadata) return std::vector<query::IndexDefinition>();
  std::vector<query::IndexDefinition> definitions;
  for (const IndexMetadata& index : metadata->indexes) definitions.push_back(index.definition);
  return definitions;
}

}  // namespace gridmount::local
