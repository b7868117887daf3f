// engine::Collection's writes: which documents, and what becomes of each.

#include "engine/local/collection.h"
#include "engine/local/stored_document.h"
#include "engine/local/unique_lookup.h"
#include "engine/query/filter.h"
#include "engine/query/projection.h"
#include "engine/query/sort.h"
#include "engine/query/update.h"

namespace gridmount::local {
namespace {

// The document an upsert inserts, in its stored form.
Result<bson::Document> upserted_document(const engine::Namespace& ns, const query::Update& update,
                                         bson::View filter) {
  GM_ASSIGN(const query::Filter conditions, query::Filter::parse(filter));
  GM_ASSIGN(bson::Document upserted, update.upserted(conditions));
  GM_ASSIGN(StoredDocument stored, stored_form(ns, upserted));
  if (stored.rebuilt) return std::move(*stored.rebuilt);
  return upserted;
}

// The matches' filter a second time, where the update asks which array elements it found.
Result<std::optional<query::Filter>> match_filter(const query::Update& update, bson::View filter) {
  if (!update.needs_match()) return std::optional<query::Filter>();
  GM_ASSIGN(query::Filter parsed, query::Filter::parse(filter));
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
  if (options.return_new) {
    return refuse(
        "Cannot specify both new=true and remove=true; 'remove' always returns the "
        "deleted document");
  }
  return {};
}

Status check_is_no_view(const CollectionEntry& entry) {
  if (!entry.settings.is_view()) return {};
  return fail(ErrorCode::kCommandNotSupportedOnView,
              "Namespace " + entry.ns.full() + " is a view, not a collection");
}

}  // namespace

Result<LocalCollection::Entry> LocalCollection::entry_for_write(Contents& contents) const {
  GM_ASSIGN(Entry entry, contents.catalog().find(ns_));
  if (entry) {
    GM_TRY(check_is_no_view(*entry));
    return entry;
  }
  GM_TRY(engine::check_namespace(ns_));
  return contents.catalog().create(ns_, bson::View());
}

Result<engine::InsertResult> LocalCollection::insert(engine::Transaction& transaction,
                                                     bson::View document,
                                                     const engine::InsertOptions& options) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents,
            writable_contents_of(transaction, environment_));
  GM_ASSIGN(const StoredDocument stored, stored_form(ns_, document));
  GM_ASSIGN(const Entry entry, entry_for_write(*contents));
  DocumentWriter writer(*contents, entry, !options.bypass_validation);
  GM_TRY(writer.insert(stored.view));
  return engine::InsertResult{bson::Value(stored.id)};
}

Result<std::vector<RecordId>> LocalCollection::targets(const std::shared_ptr<Contents>& contents,
                                                       const Entry& entry, bson::View filter,
                                                       const std::optional<bson::Value>& hint,
                                                       bool multi, bson::View sort) const {
  std::vector<RecordId> ids;
  if (!hint && sort.empty()) {
    if (const std::optional<UniqueLookup> lookup = unique_lookup(*entry, filter)) {
      GM_ASSIGN(const std::optional<RecordId> id, find_unique(contents->trees(), *entry, *lookup));
      if (id) ids.push_back(*id);
      return ids;
    }
  }
  GM_ASSIGN(query::Filter parsed, query::Filter::parse(filter));
  MatchOptions options;
  options.hint = hint;
  options.limit = multi ? 0 : 1;
  if (!sort.empty()) {
    GM_ASSIGN(options.sort, query::Sort::parse(sort));
  }
  GM_ASSIGN(const std::unique_ptr<MatchStream> matches,
            MatchStream::open(contents, entry, std::move(parsed), std::move(options)));
  // All are found before the first is changed, so that no document is met again where its change
  // has put it.
  while (true) {
    GM_ASSIGN(const std::optional<Match> match, matches->next());
    if (!match) return ids;
    ids.push_back(match->id);
  }
}

Result<engine::UpdateResult> LocalCollection::update(engine::Transaction& transaction,
                                                     bson::View filter, bson::View update,
                                                     const engine::UpdateOptions& options) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents,
            writable_contents_of(transaction, environment_));
  GM_ASSIGN(const query::Update parsed,
            query::Update::parse(update, {.array_filters = options.array_filters}));
  if (options.multi && parsed.is_replacement()) {
    return fail(ErrorCode::kFailedToParse,
                "multi update is not supported for replacement-style update");
  }
  engine::UpdateResult result;
  GM_ASSIGN(Entry entry, contents->catalog().find(ns_));
  std::vector<RecordId> ids;
  if (entry) {
    GM_TRY(check_is_no_view(*entry));
    GM_ASSIGN(ids, targets(contents, entry, filter, options.hint, options.multi, bson::View()));
  } else {
    GM_TRY(query::Filter::parse(filter));
  }
  if (ids.empty()) {
    if (!options.upsert) return result;
    GM_ASSIGN(const bson::Document inserted, upserted_document(ns_, parsed, filter));
    GM_ASSIGN(entry, entry_for_write(*contents));
    GM_TRY(DocumentWriter(*contents, entry, !options.bypass_validation).insert(inserted));
    result.upserted_id = bson::Value(inserted.view()["_id"]);
    return result;
  }
  GM_ASSIGN(const std::optional<query::Filter> matched, match_filter(parsed, filter));
  DocumentWriter writer(*contents, entry, !options.bypass_validation);
  const std::vector<bool> affected = writer.affected_by(parsed);
  for (const RecordId id : ids) {
    GM_ASSIGN(const bson::View before,
              read_document(contents->trees(), *entry, id, Verify::kChecksum));
    GM_ASSIGN(const query::Update::Applied applied, apply(parsed, matched, before));
    ++result.matched;
    if (!applied.modified) continue;
    GM_TRY(writer.replace(id, before, applied.document, affected));
    ++result.modified;
  }
  return result;
}

Result<int64_t> LocalCollection::remove(engine::Transaction& transaction, bson::View filter,
                                        bool multi) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents,
            writable_contents_of(transaction, environment_));
  GM_ASSIGN(const Entry entry, contents->catalog().find(ns_));
  if (!entry) {
    GM_TRY(query::Filter::parse(filter));
    return int64_t{0};
  }
  GM_TRY(check_is_no_view(*entry));
  GM_ASSIGN(const std::vector<RecordId> ids,
            targets(contents, entry, filter, std::nullopt, multi, bson::View()));
  DocumentWriter writer(*contents, entry);
  for (const RecordId id : ids) {
    GM_ASSIGN(const bson::View document,
              read_document(contents->trees(), *entry, id, Verify::kChecksum));
    GM_TRY(writer.remove(id, document));
  }
  return static_cast<int64_t>(ids.size());
}

Result<engine::FindAndModifyResult> LocalCollection::find_and_modify(
    engine::Transaction& transaction, bson::View filter, bson::View update,
    const engine::FindAndModifyOptions& options) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents,
            writable_contents_of(transaction, environment_));
  GM_TRY(check(options, update));
  std::optional<query::Update> parsed;
  if (!options.remove) {
    GM_ASSIGN(parsed, query::Update::parse(update, {.array_filters = options.array_filters}));
  }
  std::optional<query::Projection> projection;
  if (!options.projection.empty()) {
    GM_ASSIGN(projection, query::Projection::parse(options.projection));
  }
  const auto projected = [&](bson::View document) {
    return projection ? projection->apply(document) : bson::Document(document);
  };

  engine::FindAndModifyResult result;
  GM_ASSIGN(Entry entry, contents->catalog().find(ns_));
  std::vector<RecordId> ids;
  if (entry) {
    GM_TRY(check_is_no_view(*entry));
    GM_ASSIGN(ids, targets(contents, entry, filter, options.hint, false, options.sort));
  } else {
    GM_TRY(query::Filter::parse(filter));
    if (!options.sort.empty()) GM_TRY(query::Sort::parse(options.sort));
  }
  if (ids.empty()) {
    if (!options.upsert) return result;
    GM_ASSIGN(const bson::Document inserted, upserted_document(ns_, *parsed, filter));
    GM_ASSIGN(entry, entry_for_write(*contents));
    GM_TRY(DocumentWriter(*contents, entry, !options.bypass_validation).insert(inserted));
    result.upserted_id = bson::Value(inserted.view()["_id"]);
    if (options.return_new) result.document = projected(inserted);
    return result;
  }

  const RecordId id = ids.front();
  DocumentWriter writer(*contents, entry, !options.bypass_validation);
  GM_ASSIGN(const bson::View before,
            read_document(contents->trees(), *entry, id, Verify::kChecksum));
  if (options.remove) {
    result.document = projected(before);
    GM_TRY(writer.remove(id, before));
    return result;
  }
  GM_ASSIGN(const std::optional<query::Filter> matched, match_filter(*parsed, filter));
  GM_ASSIGN(const query::Update::Applied applied, apply(*parsed, matched, before));
  result.document = projected(options.return_new ? applied.document.view() : before);
  result.updated_existing = true;
  if (applied.modified) {
    GM_TRY(writer.replace(id, before, applied.document, writer.affected_by(*parsed)));
  }
  return result;
}

}  // namespace gridmount::local
