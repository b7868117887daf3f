// find. Source: MongoDB manual, "find" (database command).

#include "engine/wire/commands/find.h"

#include "engine/query/collation/collator.h"
#include "engine/wire/commands/api_version.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/read_arguments.h"

namespace gridmount::wire {
namespace {

// Returns true if the filter has only an _id, and the cursor can end with the document that
// matches. At most one document matches. As on servers, any other cursor is read once more to find
// its end.
bool finds_by_id(const FindCommand& find) {
  const engine::FindOptions& options = find.options;
  if (options.skip > 0 || options.hint || options.show_record_id || find.cursor.tailable) {
    return false;
  }
  auto field = find.filter.begin();
  if (field == find.filter.end() || (*field).key != "_id") return false;
  const bson::ValueView id = (*field).value;
  if (++field != find.filter.end()) return false;
  switch (id.type()) {
    case bson::Type::kDocument:
      return id.as_document().empty() || !(*id.as_document().begin()).key.starts_with('$');
    case bson::Type::kArray:
    case bson::Type::kNull:
    case bson::Type::kRegex:
    case bson::Type::kUndefined:
      return false;
    default:
      return true;
  }
}

// Answers with at most one document, without creating a cursor.
Status reply_one(Call& call, bson::Builder& reply, const FindCommand& find,
                 const engine::FindOptions& options) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  GM_ASSIGN(const std::optional<bson::View> document,
            call.store()
                .database(find.ns.database)
                ->collection(find.ns.collection)
                ->find_one(*snapshot, find.filter, options));
  if (document && call.request().room != nullptr) {
    GM_TRY(call.request().room->make_room(document->size()));
  }
  reply.open_document("cursor").open_array("firstBatch");
  if (document) reply.push(*document);
  reply.close().append("id", int64_t{0}).append("ns", find.ns.full()).close();
  call.counts().append("nreturned", int64_t{document ? 1 : 0}).append("cursorExhausted", true);
  return {};
}

// Returns true if the command has the collation of the collection, so that the command can use the
// index on _id.
Result<bool> has_collation_of(engine::Database& database, engine::Snapshot& snapshot,
                              const FindCommand& find) {
  if (find.options.collation.empty()) return true;
  GM_ASSIGN(const std::optional<engine::CollectionInfo> info,
            database.collection_info(snapshot, find.ns.collection));
  const std::optional<bson::ValueView> own =
      info ? info->options.find("collation") : std::optional<bson::ValueView>();
  GM_ASSIGN(const query::SharedCollator of_collection,
            query::Collator::parse(own ? own->as_document() : bson::View()));
  GM_ASSIGN(const query::SharedCollator collator, query::Collator::parse(find.options.collation));
  return query::same_collation(of_collection.get(), collator.get());
}

Status run_find(Call& call, bson::Builder& reply) {
  if (call.generic().api_strict) GM_TRY(check_find_is_stable(call.request().body));
  GM_ASSIGN(FindCommand find, FindCommand::read(call.arguments()));
  GM_TRY(call.arguments().finish());
  call.set_ns(find.ns);
  engine::FindOptions options = find.options;
  options.variables = find.variables;
  options.deadline = call.deadline();
  options.sort_bytes_max = call.state().options().operation_bytes_max;
  if (options.limit == 1 && find.cursor.batch_size != 0 && !find.cursor.tailable) {
    return reply_one(call, reply, find, options);
  }
  GM_ASSIGN(std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  const std::shared_ptr<engine::Database> database = call.store().database(find.ns.database);
  if (finds_by_id(find)) {
    GM_ASSIGN(const bool by_id, has_collation_of(*database, *snapshot, find));
    if (by_id) find.cursor.documents_max = 1;
  }
  if (find.cursor.tailable) {
    GM_ASSIGN(const bool goes_on, can_be_tailed(*database, *snapshot, find.ns));
    find.cursor.tailable = goes_on;
    options.tailable = goes_on;
  }
  GM_ASSIGN(std::unique_ptr<engine::Cursor> cursor,
            database->collection(find.ns.collection)->find(*snapshot, find.filter, options));
  return reply_first_batch(call, reply, find.ns, std::move(snapshot), std::move(cursor),
                           find.cursor);
}

// Returns true for {$natural: 1}.
bool is_natural_order(bson::View sort) {
  const bson::Element first = *sort.begin();
  return first.key == "$natural" && first.value.number() == 1.0 && ++sort.begin() == sort.end();
}

// Checks which options may be combined.
Status check(const FindCommand& find, bool await_data) {
  if (await_data && !find.cursor.tailable) {
    return fail(ErrorCode::kFailedToParse,
                "Cannot set 'awaitData' without also setting 'tailable'");
  }
  if (!find.cursor.tailable) return {};
  if (!find.options.sort.empty() && !is_natural_order(find.options.sort)) {
    return fail(ErrorCode::kBadValue,
                "cannot use tailable option with a sort other than {$natural: 1}");
  }
  if (find.cursor.single_batch) {
    return fail(ErrorCode::kBadValue, "cannot use tailable option with the 'singleBatch' option");
  }
  return {};
}

}  // namespace

Result<FindCommand> FindCommand::read(Arguments& arguments) {
  FindCommand find;
  GM_ASSIGN(find.ns, arguments.collection());
  GM_ASSIGN(find.filter, arguments.document_or_empty("filter"));
  GM_ASSIGN(find.options.sort, arguments.document_or_empty("sort"));
  GM_ASSIGN(find.options.projection, arguments.document_or_empty("projection"));
  GM_ASSIGN(find.options.hint, read_hint(arguments));
  GM_ASSIGN(const std::optional<int64_t> skip, arguments.integer_from("skip", 0));
  GM_ASSIGN(const std::optional<int64_t> limit, arguments.integer_from("limit", 0));
  GM_ASSIGN(find.cursor.batch_size, arguments.integer_from("batchSize", 0));
  find.options.skip = skip.value_or(0);
  find.options.limit = limit.value_or(0);
  GM_ASSIGN(find.cursor.single_batch, arguments.boolean("singleBatch"));
  GM_ASSIGN(find.cursor.tailable, arguments.boolean("tailable"));
  GM_ASSIGN(find.cursor.await_data, arguments.boolean("awaitData"));
  GM_ASSIGN(find.cursor.no_timeout, arguments.boolean("noCursorTimeout"));
  if (find.options.limit > 0) find.cursor.documents_max = find.options.limit;
  GM_ASSIGN(find.options.collation, read_collation(arguments));
  GM_ASSIGN(find.variables, read_let(arguments, find.options.collation));
  // These options have no effect: sorts use memory up to their limit and never the disk, there is
  // one server without an oplog, and each query reads once.
  for (const char* const name :
       {"allowDiskUse", "allowPartialResults", "readOnce", "oplogReplay"}) {
    GM_TRY(arguments.boolean(name));
  }
  GM_ASSIGN(find.options.min, arguments.document_or_empty("min"));
  GM_ASSIGN(find.options.max, arguments.document_or_empty("max"));
  GM_ASSIGN(find.options.return_key, arguments.boolean("returnKey"));
  GM_ASSIGN(find.options.show_record_id, arguments.boolean("showRecordId"));
  for (const char* const name : {"requestResumeToken", "resumeAfter"}) {
    GM_TRY(refuse_option(arguments, name));
  }
  GM_TRY(check(find, find.cursor.await_data));
  return find;
}

Result<bool> can_be_tailed(engine::Database& database, engine::Snapshot& snapshot,
                           const engine::Namespace& ns) {
  GM_ASSIGN(const std::optional<engine::CollectionInfo> info,
            database.collection_info(snapshot, ns.collection));
  if (!info) return false;
  GM_ASSIGN(const engine::CollectionOptions options,
            engine::CollectionOptions::parse(ns, info->options));
  if (options.is_view()) {
    return fail(ErrorCode::kInvalidPipelineOperator,
                "Tailable cursors are not supported in aggregation.");
  }
  if (!options.capped) {
    return fail(ErrorCode::kBadValue, "error processing query: ns=" + ns.full() +
                                          " tailable cursor requested on non capped collection");
  }
  GM_ASSIGN(const engine::CollectionStats stats,
            database.collection(ns.collection)->stats(snapshot));
  return stats.documents > 0;
}

Commands find_commands() {
  Command find{.name = "find", .run = run_find};
  find.scope = Command::Scope::kCollection;
  find.actions = {"find"};
  find.rules = {.read_concern = true, .in_api_version_1 = true};
  find.kind = OperationKind::kQuery;
  find.about = "returns the documents of a collection that match a filter";
  return {find};
}

}  // namespace gridmount::wire
