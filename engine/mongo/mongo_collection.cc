#include "engine/mongo/mongo_collection.h"

#include <algorithm>

#include "engine/mongo/mongo_cursor.h"
#include "engine/query/filter/variables.h"

namespace gridmount::mongo {
namespace {

using bson::Builder;
using bson::Type;

void append_hint(Builder& command, const std::optional<bson::Value>& hint) {
  if (hint) command.append("hint", *hint);
}

void append_collation(Builder& command, bson::View collation) {
  if (!collation.empty()) command.append("collation", collation);
}

// Appends the variables as expressions that evaluate to their values.
void append_variables(Builder& command, bson::View variables) {
  if (variables.empty()) return;
  command.open_document("let");
  for (const bson::Element variable : variables) {
    if (const std::optional<bson::ValueView> value = query::value_of_variable(variable)) {
      command.open_document(variable.key).append("$literal", *value).close();
    } else {
      command.append(variable.key, "$$REMOVE");
    }
  }
  command.close();
}

// Appends an update document or the stages of an update pipeline.
void append_update(Builder& command, std::string_view name, bson::View update, bool is_pipeline) {
  if (is_pipeline) {
    command.append_array(name, update);
  } else {
    command.append(name, update);
  }
}

// The limits for the documents of one insert command. The command is a document too, and adds some
// bytes for each document in it.
constexpr size_t kInsertBytesMax = 16'000'000;
constexpr size_t kInsertDocumentsMax = 10'000;

int64_t number_of(bson::View reply, std::string_view name) {
  const std::optional<bson::ValueView> value = reply.find(name);
  if (!value) return 0;
  if (const std::optional<int64_t> whole = value->integral()) return *whole;
  return static_cast<int64_t>(value->number().value_or(0));
}

std::string_view shown(engine::Verbosity verbosity) {
  return verbosity == engine::Verbosity::kQueryPlanner ? "queryPlanner" : "executionStats";
}

// Returns the database of the collection that `place` names: {db: ..., coll: ...}. `own` is the
// database of the pipeline.
std::string database_of(bson::ValueView place, const std::string& own) {
  if (place.type() != Type::kDocument) return own;
  const std::optional<bson::ValueView> database = place.as_document().find("db");
  if (!database || database->type() != Type::kString) return own;
  return std::string(database->as_string());
}

// Returns the database into which the last stage of the pipeline writes, or nothing if the pipeline
// writes nothing.
std::optional<std::string> written_database(bson::View stages, const std::string& own) {
  std::optional<std::string> database;
  for (const bson::Element stage : stages) {
    database.reset();
    if (stage.value.type() != Type::kDocument) continue;
    const bson::View fields = stage.value.as_document();
    if (const std::optional<bson::ValueView> out = fields.find("$out")) {
      database = database_of(*out, own);
    } else if (const std::optional<bson::ValueView> merge = fields.find("$merge")) {
      const std::optional<bson::ValueView> into =
          merge->type() == Type::kDocument ? merge->as_document().find("into") : std::nullopt;
      database = into ? database_of(*into, own) : own;
    }
  }
  return database;
}

bool is_missing_collection(const Error& error) {
  return error.code() == ErrorCode::kNamespaceNotFound;
}

}  // namespace

Builder MongoCollection::command(std::string_view name) const {
  Builder command;
  command.append(name, ns_.collection);
  return command;
}

Result<bson::Document> MongoCollection::run(engine::Snapshot& snapshot, Builder command) const {
  GM_ASSIGN(const std::shared_ptr<Reads> reads, reads_of(snapshot));
  return reads->run(ns_, std::move(command).finish());
}

// Runs a command that servers refuse in a transaction. The command does not see the writes of the
// transaction.
Result<bson::Document> MongoCollection::run_apart(engine::Snapshot& snapshot,
                                                  Builder command) const {
  GM_ASSIGN(const std::shared_ptr<Reads> reads, reads_of(snapshot));
  return reads->run_apart(ns_.database, std::move(command).finish());
}

Builder MongoCollection::find_command(bson::View filter, const engine::FindOptions& options) const {
  Builder find = command("find");
  find.append("filter", filter);
  if (!options.sort.empty()) find.append("sort", options.sort);
  if (!options.projection.empty()) find.append("projection", options.projection);
  if (options.skip != 0) find.append("skip", options.skip);
  if (options.limit != 0) find.append("limit", options.limit);
  if (options.tailable) find.append("tailable", true);
  if (!options.min.empty()) find.append("min", options.min);
  if (!options.max.empty()) find.append("max", options.max);
  if (options.return_key) find.append("returnKey", true);
  if (options.show_record_id) find.append("showRecordId", true);
  append_hint(find, options.hint);
  append_collation(find, options.collation);
  append_variables(find, options.variables);
  append_deadline(find, options.deadline);
  return find;
}

Result<std::unique_ptr<engine::Cursor>> MongoCollection::find(engine::Snapshot& snapshot,
                                                              bson::View filter,
                                                              const engine::FindOptions& options) {
  GM_TRY(check_deadline(options.deadline));
  GM_ASSIGN(std::shared_ptr<Reads> reads, reads_of(snapshot));
  GM_ASSIGN(bson::Document reply, run(snapshot, find_command(filter, options)));
  return MongoCursor::open(std::move(reads), ns_.database, std::move(reply), !options.one_at_a_time,
                           options.tailable);
}

Result<std::optional<bson::View>> MongoCollection::find_one(engine::Snapshot& snapshot,
                                                            bson::View filter,
                                                            const engine::FindOptions& options) {
  GM_TRY(check_deadline(options.deadline));
  GM_ASSIGN(const std::shared_ptr<Reads> reads, reads_of(snapshot));
  engine::FindOptions one = options;
  one.limit = 1;
  Builder command = find_command(filter, one);
  command.append("singleBatch", true);
  GM_ASSIGN(bson::Document reply, run(snapshot, std::move(command)));
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            MongoCursor::open(reads, ns_.database, std::move(reply)));
  GM_ASSIGN(const std::optional<bson::View> found, cursor->next());
  if (!found) return found;
  bson::Document document(*found);
  return std::optional(options.one_at_a_time ? reads->keep_current(std::move(document))
                                             : reads->keep(std::move(document)));
}

Builder MongoCollection::count_command(bson::View filter,
                                       const engine::CountOptions& options) const {
  Builder count = command("count");
  count.append("query", filter);
  if (options.skip != 0) count.append("skip", options.skip);
  if (options.limit != 0) count.append("limit", options.limit);
  append_hint(count, options.hint);
  append_collation(count, options.collation);
  append_deadline(count, options.deadline);
  return count;
}

// The command `count` takes no variables, and servers refuse it in a transaction.
Result<int64_t> MongoCollection::count_by_aggregation(engine::Snapshot& snapshot, bson::View filter,
                                                      const engine::CountOptions& options) {
  Builder stages;
  auto stage = [&, number = 0](std::string_view name, const auto& value) mutable {
    stages.open_document(std::to_string(number++)).append(name, value).close();
  };
  stage("$match", filter);
  if (options.skip != 0) stage("$skip", options.skip);
  if (options.limit != 0) stage("$limit", options.limit);
  stage("$count", "n");
  engine::AggregateOptions aggregation;
  aggregation.hint = options.hint;
  aggregation.collation = options.collation;
  aggregation.variables = options.variables;
  aggregation.deadline = options.deadline;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            aggregate(snapshot, std::move(stages).finish(), aggregation));
  GM_ASSIGN(const std::optional<bson::View> counted, cursor->next());
  return counted ? number_of(*counted, "n") : int64_t{0};
}

Result<int64_t> MongoCollection::count(engine::Snapshot& snapshot, bson::View filter,
                                       const engine::CountOptions& options) {
  GM_TRY(check_deadline(options.deadline));
  if (!options.variables.empty() || dynamic_cast<engine::Transaction*>(&snapshot) != nullptr) {
    return count_by_aggregation(snapshot, filter, options);
  }
  GM_ASSIGN(const bson::Document reply, run(snapshot, count_command(filter, options)));
  return number_of(reply, "n");
}

Builder MongoCollection::distinct_command(std::string_view path, bson::View filter,
                                          const engine::DistinctOptions& options) const {
  Builder distinct = command("distinct");
  distinct.append("key", path).append("query", filter);
  append_hint(distinct, options.hint);
  append_collation(distinct, options.collation);
  append_deadline(distinct, options.deadline);
  return distinct;
}

Result<std::vector<bson::Value>> MongoCollection::distinct(engine::Snapshot& snapshot,
                                                           std::string_view path, bson::View filter,
                                                           const engine::DistinctOptions& options) {
  GM_TRY(check_deadline(options.deadline));
  GM_ASSIGN(const bson::Document reply, run(snapshot, distinct_command(path, filter, options)));
  std::vector<bson::Value> values;
  const std::optional<bson::ValueView> list = reply.find("values");
  if (!list || list->type() != Type::kArray) {
    return fail(ErrorCode::kFailedToParse, "the server's reply holds no values");
  }
  for (const bson::Element element : list->as_document()) values.emplace_back(element.value);
  return values;
}

Builder MongoCollection::aggregate_command(bson::View stages,
                                           const engine::AggregateOptions& options) const {
  Builder aggregate;
  if (ns_.collection.empty()) {
    aggregate.append("aggregate", int32_t{1});
  } else {
    aggregate.append("aggregate", ns_.collection);
  }
  aggregate.append_array("pipeline", stages);
  append_hint(aggregate, options.hint);
  append_collation(aggregate, options.collation);
  append_variables(aggregate, options.variables);
  append_deadline(aggregate, options.deadline);
  if (options.bypass_validation) aggregate.append("bypassDocumentValidation", true);
  return aggregate;
}

Result<std::unique_ptr<engine::Cursor>> MongoCollection::aggregate(
    engine::Snapshot& snapshot, bson::View stages, const engine::AggregateOptions& options) {
  GM_TRY(check_deadline(options.deadline));
  GM_ASSIGN(std::shared_ptr<Reads> reads, reads_of(snapshot));
  Builder command = aggregate_command(stages, options);
  command.open_document("cursor").close();
  const bson::Document finished = std::move(command).finish();
  if (const std::optional<std::string> written = written_database(stages, ns_.database)) {
    if (dynamic_cast<engine::Transaction*>(&snapshot) == nullptr) {
      return fail(ErrorCode::kIllegalOperation, "$out and $merge need a transaction");
    }
    GM_TRY(reads->check_unused({*written, ""}));
    // Servers refuse $out and $merge in a transaction.
    GM_ASSIGN(bson::Document reply,
              reads->change_catalog({ns_.database, ""}, ns_.database, finished));
    GM_TRY(check_writes(reply));
    return MongoCursor::open(std::move(reads), ns_.database, std::move(reply));
  }
  GM_ASSIGN(bson::Document reply, reads->run(ns_, finished));
  return MongoCursor::open(std::move(reads), ns_.database, std::move(reply));
}

Result<bson::Document> MongoCollection::explain(engine::Snapshot& snapshot, bson::View filter,
                                                const engine::FindOptions& options,
                                                engine::Verbosity verbosity) {
  GM_TRY(check_deadline(options.deadline));
  Builder explain;
  if (options.distinct_path.empty()) {
    explain.append("explain", find_command(filter, options).finish());
  } else {
    explain.append("explain", distinct_command(options.distinct_path, filter,
                                               {.hint = options.hint,
                                                .collation = options.collation,
                                                .deadline = options.deadline})
                                  .finish());
  }
  explain.append("verbosity", shown(verbosity));
  return run_apart(snapshot, std::move(explain));
}

Result<bson::Document> MongoCollection::explain_count(engine::Snapshot& snapshot, bson::View filter,
                                                      const engine::CountOptions& options,
                                                      engine::Verbosity verbosity) {
  GM_TRY(check_deadline(options.deadline));
  Builder explain;
  explain.append("explain", count_command(filter, options).finish());
  explain.append("verbosity", shown(verbosity));
  return run_apart(snapshot, std::move(explain));
}

Result<bson::Document> MongoCollection::explain_aggregate(engine::Snapshot& snapshot,
                                                          bson::View stages,
                                                          const engine::AggregateOptions& options,
                                                          engine::Verbosity verbosity) {
  GM_TRY(check_deadline(options.deadline));
  Builder aggregate = aggregate_command(stages, options);
  aggregate.open_document("cursor").close();
  Builder explain;
  explain.append("explain", std::move(aggregate).finish()).append("verbosity", shown(verbosity));
  return run_apart(snapshot, std::move(explain));
}

Result<engine::InsertResult> MongoCollection::insert(engine::Transaction& transaction,
                                                     bson::View document,
                                                     const engine::InsertOptions& options) {
  // A server would generate an _id as well, but would not return it.
  std::optional<bson::Document> with_id;
  if (!document.find("_id")) {
    Builder builder;
    builder.append("_id", bson::ObjectId::generate()).append_all(document);
    with_id = std::move(builder).finish();
    document = *with_id;
  }
  Builder insert = command("insert");
  insert.open_array("documents").push(document).close();
  if (options.bypass_validation) insert.append("bypassDocumentValidation", true);
  GM_ASSIGN(const bson::Document reply, run(transaction, std::move(insert)));
  GM_TRY(check_writes(reply));
  return engine::InsertResult{bson::Value(document["_id"])};
}

Status MongoCollection::insert_all(engine::Transaction& transaction,
                                   std::span<const bson::View> documents, size_t& inserted,
                                   const engine::InsertOptions& options) {
  inserted = 0;
  while (!documents.empty()) {
    Builder insert = command("insert");
    Builder& list = insert.open_array("documents");
    size_t count = 0;
    size_t bytes = 0;
    while (count < documents.size() && count < kInsertDocumentsMax &&
           (count == 0 || bytes + documents[count].size() <= kInsertBytesMax)) {
      list.push(documents[count]);
      bytes += documents[count++].size();
    }
    list.close();
    if (options.bypass_validation) insert.append("bypassDocumentValidation", true);
    GM_ASSIGN(const bson::Document reply, run(transaction, std::move(insert)));
    inserted += static_cast<size_t>(number_of(reply, "n"));
    GM_TRY(check_writes(reply));
    documents = documents.subspan(count);
  }
  return {};
}

Result<engine::UpdateResult> MongoCollection::update(engine::Transaction& transaction,
                                                     bson::View filter, bson::View update,
                                                     const engine::UpdateOptions& options) {
  GM_TRY(check_deadline(options.deadline));
  Builder command = this->command("update");
  Builder& statement = command.open_array("updates").push_open_document();
  statement.append("q", filter);
  append_update(statement, "u", update, options.is_pipeline);
  statement.append("upsert", options.upsert).append("multi", options.multi);
  append_hint(statement, options.hint);
  append_collation(statement, options.collation);
  if (!options.array_filters.empty()) {
    statement.append_array("arrayFilters", options.array_filters);
  }
  statement.close().close();
  append_variables(command, options.variables);
  append_deadline(command, options.deadline);
  if (options.bypass_validation) command.append("bypassDocumentValidation", true);
  GM_ASSIGN(const bson::Document reply, run(transaction, std::move(command)));
  GM_TRY(check_writes(reply));
  engine::UpdateResult result;
  result.matched = number_of(reply, "n");
  result.modified = number_of(reply, "nModified");
  const std::optional<bson::ValueView> upserted = reply.find("upserted");
  if (upserted && upserted->type() == Type::kArray && !upserted->as_document().empty()) {
    const bson::ValueView first = (*upserted->as_document().begin()).value;
    if (first.type() == Type::kDocument && first.as_document().find("_id")) {
      result.upserted_id = bson::Value(first.as_document()["_id"]);
      result.matched = 0;  // servers count the inserted document as matched
    }
  }
  return result;
}

Result<int64_t> MongoCollection::remove(engine::Transaction& transaction, bson::View filter,
                                        bool multi, const engine::RemoveOptions& options) {
  GM_TRY(check_deadline(options.deadline));
  Builder command = this->command("delete");
  Builder& statement = command.open_array("deletes").push_open_document();
  statement.append("q", filter).append("limit", int32_t{multi ? 0 : 1});
  append_hint(statement, options.hint);
  append_collation(statement, options.collation);
  statement.close().close();
  append_variables(command, options.variables);
  append_deadline(command, options.deadline);
  GM_ASSIGN(const bson::Document reply, run(transaction, std::move(command)));
  GM_TRY(check_writes(reply));
  return number_of(reply, "n");
}

Result<engine::FindAndModifyResult> MongoCollection::find_and_modify(
    engine::Transaction& transaction, bson::View filter, bson::View update,
    const engine::FindAndModifyOptions& options) {
  GM_TRY(check_deadline(options.deadline));
  Builder command = this->command("findAndModify");
  command.append("query", filter);
  if (!options.sort.empty()) command.append("sort", options.sort);
  // Also sends options that contradict `remove`, so that the server refuses them.
  if (options.remove) command.append("remove", true);
  if (!options.remove || !update.empty()) {
    append_update(command, "update", update, options.is_pipeline);
  }
  if (options.return_new) command.append("new", true);
  if (options.upsert) command.append("upsert", true);
  if (!options.projection.empty()) command.append("fields", options.projection);
  append_hint(command, options.hint);
  append_collation(command, options.collation);
  if (!options.array_filters.empty()) command.append_array("arrayFilters", options.array_filters);
  append_variables(command, options.variables);
  append_deadline(command, options.deadline);
  if (options.bypass_validation) command.append("bypassDocumentValidation", true);
  GM_ASSIGN(const bson::Document reply, run(transaction, std::move(command)));
  GM_TRY(check_writes(reply));
  engine::FindAndModifyResult result;
  const std::optional<bson::ValueView> value = reply.find("value");
  if (value && value->type() == Type::kDocument) {
    result.document = bson::Document(value->as_document());
  }
  const std::optional<bson::ValueView> last = reply.find("lastErrorObject");
  if (last && last->type() == Type::kDocument) {
    const bson::View entry = last->as_document();
    const std::optional<bson::ValueView> existing = entry.find("updatedExisting");
    result.updated_existing = existing && existing->type() == Type::kBool && existing->as_bool();
    if (const std::optional<bson::ValueView> upserted = entry.find("upserted")) {
      result.upserted_id = bson::Value(*upserted);
    }
  }
  return result;
}

Status MongoCollection::create_index(engine::Transaction& transaction,
                                     const engine::IndexDefinition& definition) {
  GM_ASSIGN(const std::shared_ptr<Reads> reads, reads_of(transaction));
  engine::IndexDefinition named = definition;
  if (named.name.empty()) named.name = query::default_index_name(named.keys);
  // Leaves out the version, as drivers do: every server has its own version, and some servers
  // refuse the field.
  const bson::Document specification = named.specification();
  Builder command = this->command("createIndexes");
  command.open_array("indexes").push_open_document();
  for (const bson::Element element : specification.view()) {
    if (element.key != "v") command.append(element.key, element.value);
  }
  if (named.collation && named.own_collation() == nullptr) {
    // Without this field the index would get the collation of the collection.
    command.open_document("collation").append("locale", "simple").close();
  }
  command.close().close();
  GM_ASSIGN(const bson::Document reply,
            reads->change_catalog(ns_, ns_.database, std::move(command).finish()));
  return check_writes(reply);
}

Status MongoCollection::drop_index(engine::Transaction& transaction, std::string_view name) {
  GM_ASSIGN(const std::shared_ptr<Reads> reads, reads_of(transaction));
  Builder command = this->command("dropIndexes");
  command.append("index", name);
  GM_ASSIGN(const bson::Document reply,
            reads->change_catalog(ns_, ns_.database, std::move(command).finish()));
  return check_writes(reply);
}

Result<std::vector<engine::IndexDefinition>> MongoCollection::indexes(engine::Snapshot& snapshot) {
  GM_ASSIGN(std::shared_ptr<Reads> reads, reads_of(snapshot));
  Builder command = this->command("listIndexes");
  command.open_document("cursor").close();
  Result<bson::Document> reply = reads->run_apart(ns_.database, std::move(command).finish());
  std::vector<engine::IndexDefinition> definitions;
  if (!reply && is_missing_collection(reply.error())) return definitions;
  if (!reply) return fail(std::move(reply).error());
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            MongoCursor::open(std::move(reads), ns_.database, *std::move(reply)));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> specification, cursor->next());
    if (!specification) return definitions;
    Result<engine::IndexDefinition> definition = engine::IndexDefinition::parse(*specification);
    if (!definition) continue;
    // Servers leave out `unique` for the index on _id.
    if (definition->name == "_id_") definition->unique = true;
    if (!definition->collation) definition->collation.emplace();
    definitions.push_back(*std::move(definition));
  }
}

Result<engine::CollectionStats> MongoCollection::stats(engine::Snapshot& snapshot) {
  GM_ASSIGN(const bson::Document reply, run_apart(snapshot, command("collStats")));
  engine::CollectionStats stats;
  stats.documents = number_of(reply, "count");
  stats.document_bytes = number_of(reply, "size");
  stats.storage_bytes = number_of(reply, "storageSize");
  stats.index_count = number_of(reply, "nindexes");
  return stats;
}

Result<std::vector<engine::IndexStats>> MongoCollection::index_stats(engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::vector<engine::IndexDefinition> definitions, indexes(snapshot));
  GM_ASSIGN(const bson::Document reply, run_apart(snapshot, command("collStats")));
  const std::optional<bson::ValueView> sizes = reply.find("indexSizes");
  Builder stages;
  stages.open_document("0").open_document("$indexStats").close().close();
  Builder command = aggregate_command(std::move(stages).finish(), {});
  command.open_document("cursor").close();
  GM_ASSIGN(bson::Document found, run_apart(snapshot, std::move(command)));
  GM_ASSIGN(std::shared_ptr<Reads> reads, reads_of(snapshot));
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            MongoCursor::open(std::move(reads), ns_.database, std::move(found)));
  // The result has the order of `definitions`, because the server lists the statistics in any
  // order.
  std::vector<engine::IndexStats> all;
  for (const engine::IndexDefinition& definition : definitions) {
    engine::IndexStats stats;
    stats.definition = definition;
    if (sizes && sizes->type() == Type::kDocument) {
      stats.bytes = number_of(sizes->as_document(), definition.name);
    }
    all.push_back(std::move(stats));
  }
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> entry, cursor->next());
    if (!entry) return all;
    const std::optional<bson::ValueView> name = entry->find("name");
    const std::optional<bson::ValueView> accesses = entry->find("accesses");
    if (!name || name->type() != Type::kString) continue;
    const auto stats = std::find_if(all.begin(), all.end(), [&](const auto& each) {
      return each.definition.name == name->as_string();
    });
    if (stats == all.end() || !accesses || accesses->type() != Type::kDocument) continue;
    stats->accesses = number_of(accesses->as_document(), "ops");
    const std::optional<bson::ValueView> since = accesses->as_document().find("since");
    if (since && since->type() == Type::kDate) stats->since = since->as_date();
  }
}

}  // namespace gridmount::mongo
