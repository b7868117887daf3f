// The writes of engine::Collection. Each write selects documents and changes them.

#include "engine/local/catalog/system_collections.h"
#include "engine/local/collection.h"
#include "engine/local/queries/observation.h"
#include "engine/local/queries/unique_lookup.h"
#include "engine/local/stored_document.h"
#include "engine/query/filter/filter.h"
#include "engine/query/filter/variables.h"
#include "engine/query/projection/projection.h"
#include "engine/query/sort.h"
#include "engine/query/update/update.h"

namespace gridmount::local {
namespace {

// Returns the document that an upsert inserts, in its stored form. The update has already filled in
// empty timestamps.
Result<bson::Document> upserted_document(const engine::Namespace& ns, const query::Update& update,
                                         bson::View filter, bson::View variables,
                                         const query::SharedCollator& collator,
                                         const CollectionMetadata* metadata) {
  GM_ASSIGN(const query::Filter conditions,
            filter_for(ns, filter, variables, collator, metadata, true));
  GM_ASSIGN(bson::Document upserted, update.upserted(conditions));
  GM_ASSIGN(StoredDocument stored, stored_form(ns, upserted, true));
  if (stored.rebuilt) return std::move(*stored.rebuilt);
  return upserted;
}

// `options` are those of update or findAndModify.
template <typename Options>
Result<query::Update> parse_update(bson::View update, const Options& options,
                                   const query::SharedCollator& collator) {
  return query::Update::parse(update, {options.array_filters, options.is_pipeline,
                                       options.variables, bson::Date::now(), collator});
}

// Parses the filter a second time if the update uses the array element that the filter matched.
Result<std::optional<query::Filter>> match_filter(const query::Update& update, bson::View filter,
                                                  bson::View variables,
                                                  const query::SharedCollator& collator,
                                                  const CollectionMetadata& metadata) {
  if (!update.needs_match()) return std::optional<query::Filter>();
  GM_ASSIGN(query::Filter parsed, filter_for(metadata.ns, filter, variables, collator, &metadata));
  return std::optional(std::move(parsed));
}

Result<query::Update::Applied> apply(const query::Update& update,
                                     const std::optional<query::Filter>& filter,
                                     bson::View document) {
  return update.apply(document,
                      filter ? filter->matched_position(document) : std::optional<size_t>());
}

Status check(const engine::FindAndModifyOptions& options, bson::View update) {
  const auto refuse = [](const char* why) { return fail(ErrorCode::kFailedToParse, why); };
  if (!options.remove) return {};
  if (!update.empty()) return refuse("Cannot specify both an update and remove=true");
  if (options.upsert) return refuse("Cannot specify both upsert=true and remove=true");
  if (!options.array_filters.empty()) {
    return refuse("Cannot specify arrayFilters and remove=true");
  }
  if (options.return_new) {
    return refuse(
        "Cannot specify both new=true and remove=true; 'remove' always returns the "
        "deleted document");
  }
  return {};
}

Status check_is_no_view(const CollectionMetadata& metadata) {
  if (!metadata.settings.is_view()) return {};
  return fail(ErrorCode::kCommandNotSupportedOnView,
              "Namespace " + metadata.ns.full() + " is a view, not a collection");
}

}  // namespace

Result<LocalCollection::SharedMetadata> LocalCollection::metadata_for_write(
    ReadView& read_view) const {
  GM_ASSIGN(SharedMetadata metadata, read_view.catalog().find(ns_));
  if (metadata) {
    GM_TRY(check_is_no_view(*metadata));
    return metadata;
  }
  GM_TRY(engine::check_namespace(ns_));
  if (is_catalog_collection(ns_)) {
    return fail(ErrorCode::kInvalidNamespace, "cannot write to '" + ns_.full() + "'");
  }
  return read_view.catalog().create(ns_, bson::View());
}

Result<engine::InsertResult> LocalCollection::insert(engine::Transaction& transaction,
                                                     bson::View document,
                                                     const engine::InsertOptions& options) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  GM_ASSIGN(const StoredDocument stored, stored_form(ns_, document, options.keep_empty_timestamps));
  GM_ASSIGN(const SharedMetadata metadata, metadata_for_write(*read_view));
  DocumentWriter writer(*read_view, metadata, !options.bypass_validation);
  GM_TRY(writer.insert(stored.view));
  return engine::InsertResult{bson::Value(stored.id)};
}

Result<LocalCollection::Targets> LocalCollection::targets(
    const std::shared_ptr<ReadView>& read_view, const SharedMetadata& metadata, bson::View filter,
    const TargetOptions& options) const {
  Targets targets;
  if (!options.hint && options.sort.empty()) {
    if (const std::optional<UniqueLookup> lookup =
            unique_lookup(*metadata, filter, options.collator.get())) {
      GM_ASSIGN(const std::optional<RecordId> id,
                find_unique(read_view->trees(), *metadata, *lookup));
      record_lookup(*read_view, *metadata, *lookup->index, id.has_value());
      if (!id) return targets;
      targets.ids.push_back(*id);
      targets.looked_up = lookup->index;
      return targets;
    }
  }
  GM_ASSIGN(query::Filter parsed, filter_for(ns_, filter, options.variables, options.collator,
                                             metadata.get(), options.is_upsert));
  MatchOptions match;
  match.hint = options.hint;
  match.limit = options.multi ? 0 : 1;
  match.deadline = options.deadline;
  match.one_at_a_time = true;
  match.collator = options.collator;
  match.text_score = options.text_score;
  if (!options.sort.empty()) {
    GM_ASSIGN(query::Sort sort,
              query::Sort::parse(options.sort, options.collator, query::SortMetadata::kAllowed));
    // Servers do not sort one document that is found by its _id.
    const bool by_id = !options.hint && is_by_id(filter, {}) &&
                       query::same_collation(options.collator.get(), metadata->collator.get());
    if (!by_id) match.sort = std::move(sort);
  }
  GM_ASSIGN(const std::unique_ptr<PlanExecutor> matches,
            PlanExecutor::open(read_view, metadata, std::move(parsed), std::move(match)));
  // Find all matches before the first one is changed. Otherwise a change could move a document to a
  // place where the search would find it again.
  while (true) {
    GM_ASSIGN(const std::optional<Match> found, matches->next());
    if (!found) return targets;
    if (targets.ids.empty()) targets.text_score = found->text_score;
    targets.ids.push_back(found->id);
  }
}

Result<bson::View> LocalCollection::read_target(ReadView& read_view,
                                                const CollectionMetadata& metadata,
                                                const Targets& found, RecordId id,
                                                bson::View filter) {
  GM_ASSIGN(const bson::View document, read_document(read_view, metadata, id, Verify::kChecksum));
  if (found.looked_up != nullptr) {
    GM_TRY(confirm_found(metadata, *found.looked_up, filter, document));
  }
  return document;
}

Result<engine::UpdateResult> LocalCollection::update(engine::Transaction& transaction,
                                                     bson::View filter, bson::View update,
                                                     const engine::UpdateOptions& options) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  GM_ASSIGN(SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for(options.collation, metadata.get()));
  GM_ASSIGN(const query::Update parsed, parse_update(update, options, collator));
  if (options.multi && parsed.is_replacement()) {
    return fail(ErrorCode::kFailedToParse,
                "multi update is not supported for replacement-style update");
  }
  engine::UpdateResult result;
  Targets found;
  if (metadata) {
    GM_TRY(check_is_no_view(*metadata));
    GM_ASSIGN(found, targets(read_view, metadata, filter,
                             {options.multi,
                              options.hint,
                              options.variables,
                              {},
                              options.upsert,
                              options.deadline,
                              collator}));
  } else {
    GM_TRY(filter_for(ns_, filter, options.variables, collator, nullptr));
  }
  if (found.ids.empty()) {
    if (!options.upsert) return result;
    GM_ASSIGN(const bson::Document inserted,
              upserted_document(ns_, parsed, filter, options.variables, collator, metadata.get()));
    GM_ASSIGN(metadata, metadata_for_write(*read_view));
    GM_TRY(DocumentWriter(*read_view, metadata, !options.bypass_validation).insert(inserted));
    result.upserted_id = bson::Value(inserted.view()["_id"]);
    return result;
  }
  GM_ASSIGN(const std::optional<query::Filter> matched,
            match_filter(parsed, filter, options.variables, collator, *metadata));
  DocumentWriter writer(*read_view, metadata, !options.bypass_validation);
  const std::vector<bool> affected = writer.affected_by(parsed);
  for (const RecordId id : found.ids) {
    GM_ASSIGN(const bson::View before, read_target(*read_view, *metadata, found, id, filter));
    GM_ASSIGN(const query::Update::Applied applied, apply(parsed, matched, before));
    ++result.matched;
    if (!applied.modified) continue;
    GM_TRY(writer.replace(id, before, applied.document, affected));
    ++result.modified;
  }
  return result;
}

Result<bool> LocalCollection::overwrite(engine::Transaction& transaction, bson::View filter,
                                        const engine::BinaryOverwrite& change) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for({}, metadata.get()));
  if (!metadata) {
    GM_TRY(filter_for(ns_, filter, {}, nullptr, nullptr));
    return false;
  }
  GM_TRY(check_is_no_view(*metadata));
  TargetOptions options;
  options.collator = collator;
  GM_ASSIGN(const Targets found, targets(read_view, metadata, filter, options));
  if (found.ids.empty()) return false;
  const RecordId id = found.ids.front();
  if (found.looked_up != nullptr) {
    GM_TRY(DocumentWriter::confirm_record(*read_view, *metadata, *found.looked_up, filter, id));
  }
  return DocumentWriter(*read_view, metadata).overwrite(id, change);
}

Result<int64_t> LocalCollection::remove(engine::Transaction& transaction, bson::View filter,
                                        bool multi, const engine::RemoveOptions& options) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for(options.collation, metadata.get()));
  if (!metadata) {
    GM_TRY(filter_for(ns_, filter, options.variables, collator, nullptr));
    return int64_t{0};
  }
  GM_TRY(check_is_no_view(*metadata));
  GM_ASSIGN(
      const Targets found,
      targets(read_view, metadata, filter,
              {multi, options.hint, options.variables, {}, false, options.deadline, collator}));
  DocumentWriter writer(*read_view, metadata);
  for (const RecordId id : found.ids) {
    GM_ASSIGN(const bson::View document, read_target(*read_view, *metadata, found, id, filter));
    GM_TRY(writer.remove(id, document));
  }
  return static_cast<int64_t>(found.ids.size());
}

Result<engine::FindAndModifyResult> LocalCollection::find_and_modify(
    engine::Transaction& transaction, bson::View filter, bson::View update,
    const engine::FindAndModifyOptions& options) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  GM_TRY(check(options, update));
  GM_ASSIGN(SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(const query::SharedCollator collator, collator_for(options.collation, metadata.get()));
  std::optional<query::Update> parsed;
  if (!options.remove) {
    GM_ASSIGN(parsed, parse_update(update, options, collator));
  }
  std::optional<query::Projection> projection;
  if (!options.projection.empty()) {
    GM_ASSIGN(projection, query::Projection::parse(options.projection,
                                                   {filter, options.variables, bson::Date::now(),
                                                    collator, query::has_text_search(filter)}));
    if (options.return_new && projection->needs_match()) {
      return fail(ErrorCode::kBadValue,
                  "Cannot use a positional projection and return the new document");
    }
  }
  engine::FindAndModifyResult result;
  Targets found;
  const auto projected = [&](bson::View document) -> Result<bson::Document> {
    if (!projection) return bson::Document(document);
    GM_ASSIGN(const bson::View made, projection->apply(document, found.text_score));
    return bson::Document(made);
  };
  if (metadata) {
    GM_TRY(check_is_no_view(*metadata));
    GM_ASSIGN(found,
              targets(read_view, metadata, filter,
                      {false, options.hint, options.variables, options.sort, options.upsert,
                       options.deadline, collator, projection && projection->uses_text_score()}));
  } else {
    GM_TRY(filter_for(ns_, filter, options.variables, collator, nullptr));
    if (!options.sort.empty()) {
      GM_TRY(query::Sort::parse(options.sort, collator, query::SortMetadata::kAllowed));
    }
  }
  if (found.ids.empty()) {
    if (!options.upsert) return result;
    GM_ASSIGN(const bson::Document inserted,
              upserted_document(ns_, *parsed, filter, options.variables, collator, metadata.get()));
    GM_ASSIGN(metadata, metadata_for_write(*read_view));
    GM_TRY(DocumentWriter(*read_view, metadata, !options.bypass_validation).insert(inserted));
    result.upserted_id = bson::Value(inserted.view()["_id"]);
    if (options.return_new) {
      GM_ASSIGN(result.document, projected(inserted));
    }
    return result;
  }

  const RecordId id = found.ids.front();
  DocumentWriter writer(*read_view, metadata, !options.bypass_validation);
  GM_ASSIGN(const bson::View before, read_target(*read_view, *metadata, found, id, filter));
  if (options.remove) {
    GM_ASSIGN(result.document, projected(before));
    GM_TRY(writer.remove(id, before));
    return result;
  }
  GM_ASSIGN(const std::optional<query::Filter> matched,
            match_filter(*parsed, filter, options.variables, collator, *metadata));
  GM_ASSIGN(const query::Update::Applied applied, apply(*parsed, matched, before));
  GM_ASSIGN(result.document, projected(options.return_new ? applied.document.view() : before));
  result.updated_existing = true;
  if (applied.modified) {
    GM_TRY(writer.replace(id, before, applied.document, writer.affected_by(*parsed)));
  }
  return result;
}

}  // namespace gridmount::local
