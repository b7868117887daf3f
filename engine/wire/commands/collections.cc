// Collections and databases: listDatabases, dropDatabase, listCollections, create, drop, collMod,
// convertToCapped.
// Source: MongoDB manual, "Administration Commands".

#include <algorithm>
#include <set>
#include <string>

#include "engine/aggregation/statistics.h"
#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/query/filter/filter.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/cursor_reply.h"
#include "engine/wire/commands/read_arguments.h"
#include "engine/wire/commands/schema_change.h"

namespace gridmount::wire {
namespace {

using bson::Type;

Result<std::optional<query::Filter>> read_filter(Arguments& arguments) {
  GM_ASSIGN(const std::optional<bson::View> given, arguments.document("filter"));
  if (!given || given->empty()) return std::optional<query::Filter>();
  GM_ASSIGN(query::Filter filter, query::Filter::parse(*given));
  return std::optional(std::move(filter));
}

// --- listDatabases

Status run_list_databases(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  arguments.ignore("listDatabases");
  GM_ASSIGN(const bool name_only, arguments.boolean("nameOnly"));
  GM_TRY(arguments.optional_boolean("authorizedDatabases"));
  GM_ASSIGN(const std::optional<query::Filter> filter, read_filter(arguments));
  GM_TRY(arguments.finish());
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  GM_ASSIGN(std::vector<std::string> names, call.store().databases(*snapshot));
  // Every server shows admin, even if it is empty.
  const auto admin = std::lower_bound(names.begin(), names.end(), "admin");
  const bool admin_is_empty = admin == names.end() || *admin != "admin";
  if (admin_is_empty) names.insert(admin, "admin");
  int64_t total = 0;
  reply.open_array("databases");
  for (const std::string& name : names) {
    if (!call.state().access().can_list(call.client(), name)) continue;
    bson::Builder entry;
    entry.append("name", name);
    int64_t size = 0;
    if (!name_only) {
      GM_ASSIGN(const bson::Document stats,
                aggregation::database_stats(call.store(), *snapshot, name));
      size = stats.view()["totalSize"].integral().value_or(0);
      entry.append("sizeOnDisk", size).append("empty", admin_is_empty && name == "admin");
    }
    const bson::Document document = std::move(entry).finish();
    if (filter && !filter->matches(document)) continue;
    total += size;
    reply.push(document.view());
  }
  reply.close();
  if (!name_only) {
    constexpr int64_t kMegabyte = 1 << 20;
    reply.append("totalSize", total).append("totalSizeMb", total / kMegabyte);
  }
  return {};
}

// --- dropDatabase

Status run_drop_database(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::optional<int64_t> one, arguments.integer("dropDatabase"));
  if (!one) return arguments.missing("dropDatabase");
  if (*one != 1) {
    constexpr ErrorCode kNotOne{5255100};
    return fail(kNotOne, "Have to pass 1 as 'dropDatabase'");
  }
  GM_ASSIGN(const std::string name, arguments.database());
  GM_TRY(arguments.finish());
  // admin holds the users and the mark that users have existed.
  if (name == "admin") {
    return fail(ErrorCode::kIllegalOperation, "Dropping the 'admin' database is prohibited.");
  }
  bool existed = false;
  const auto change = [&](engine::Transaction& transaction) -> Status {
    const std::shared_ptr<engine::Database> database = call.store().database(name);
    GM_ASSIGN(const std::vector<engine::CollectionInfo> collections,
              database->collections(transaction));
    existed = !collections.empty();
    return database->drop_database(transaction);
  };
  GM_TRY(change_schema(call, change));
  if (existed) reply.append("dropped", name);
  return {};
}

// --- listCollections

bson::Document shown(const engine::CollectionInfo& info, bool name_only, bool read_only) {
  const bool is_view = info.options.find("viewOn").has_value();
  bson::Builder out;
  out.append("name", info.name).append("type", is_view ? "view" : "collection");
  if (name_only) return std::move(out).finish();
  out.append("options", info.options);
  out.open_document("info").append("readOnly", is_view || read_only);
  if (!info.uuid.empty()) {
    constexpr uint8_t kUuidSubtype = 4;
    out.append("uuid", bson::Binary{.subtype = kUuidSubtype,
                                    .data = reinterpret_cast<const uint8_t*>(info.uuid.data()),
                                    .size = static_cast<uint32_t>(info.uuid.size())});
  }
  out.close();
  if (!is_view) {
    out.open_document("idIndex").append("v", int32_t{2});
    out.open_document("key").append("_id", int32_t{1}).close();
    out.append("name", "_id_");
    if (const auto collation = info.options.find("collation")) out.append("collation", *collation);
    out.close();
  }
  return std::move(out).finish();
}

// Returns the only names that the filter can match, if the filter has a form such as {name: "a"} or
// {name: {$in: ["a", "b"]}}. Drivers look up one collection with such a filter. The time for this
// must not grow with the number of collections.
std::optional<std::set<std::string>> names_asked_for(bson::View filter) {
  const std::optional<bson::ValueView> name = filter.find("name");
  if (!name) return std::nullopt;
  if (name->type() == Type::kString) return std::set{std::string(name->as_string())};
  if (name->type() != Type::kDocument) return std::nullopt;
  const std::optional<bson::ValueView> equal = name->as_document().find("$eq");
  if (equal && equal->type() == Type::kString) return std::set{std::string(equal->as_string())};
  const std::optional<bson::ValueView> in = name->as_document().find("$in");
  if (!in || in->type() != Type::kArray) return std::nullopt;
  std::set<std::string> names;
  for (const bson::Element element : in->as_document()) {
    if (element.value.type() != Type::kString) return std::nullopt;
    names.emplace(element.value.as_string());
  }
  return names;
}

Result<std::vector<engine::CollectionInfo>> collections_for(engine::Database& database,
                                                            engine::Snapshot& snapshot,
                                                            bson::View filter) {
  const std::optional<std::set<std::string>> names = names_asked_for(filter);
  if (!names) return database.collections(snapshot);
  std::vector<engine::CollectionInfo> infos;
  for (const std::string& name : *names) {
    // A string that is not a valid name matches no collection.
    if (!engine::check_namespace({database.name(), name})) continue;
    GM_ASSIGN(std::optional<engine::CollectionInfo> info, database.collection_info(snapshot, name));
    if (info) infos.push_back(*std::move(info));
  }
  return infos;
}

Status run_list_collections(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  arguments.ignore("listCollections");
  GM_ASSIGN(const std::string name, arguments.database());
  GM_ASSIGN(const std::optional<bool> asked_for_names, arguments.strict_boolean("nameOnly"));
  GM_ASSIGN(const std::optional<bool> asked_for_authorized,
            arguments.strict_boolean("authorizedCollections"));
  const bool name_only = asked_for_names.value_or(false);
  const bool authorized_only = asked_for_authorized.value_or(false);
  GM_ASSIGN(const bson::View asked_for, arguments.document_or_empty("filter"));
  GM_ASSIGN(const std::optional<query::Filter> filter, read_filter(arguments));
  GM_ASSIGN(const std::optional<bson::View> cursor, arguments.document("cursor"));
  GM_ASSIGN(const CursorRequest request,
            read_cursor_argument("listCollections.cursor", cursor, kWholeList));
  GM_TRY(arguments.finish());
  const AccessControl& access = call.state().access();
  if (authorized_only && !access.can_list(call.client(), name)) {
    return fail(ErrorCode::kUnauthorized,
                "not authorized on " + name + " to execute command listCollections");
  }
  std::vector<bson::Document> documents;
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  GM_ASSIGN(const std::vector<engine::CollectionInfo> infos,
            collections_for(*call.store().database(name), *snapshot, asked_for));
  for (const engine::CollectionInfo& info : infos) {
    if (authorized_only && !access.can_list(call.client(), name, info.name)) continue;
    // As on servers, the filter applies to the document that would be shown.
    bson::Document document = shown(info, name_only, call.store().read_only());
    if (filter && !filter->matches(document)) continue;
    documents.push_back(std::move(document));
  }
  return reply_first_batch(call, reply, {name, "$cmd.listCollections"}, nullptr,
                           std::make_unique<ListCursor>(std::move(documents)), request);
}

// A list with only the names of collections that the client may use needs no privilege in advance.
// run_list_collections() checks that the client has some privilege in the database.
std::vector<Privilege> list_collections_privileges(const Request& request) {
  const auto is_on = [&](std::string_view name) {
    const std::optional<bson::ValueView> value = request.body.find(name);
    return value && value->type() == Type::kBool && value->as_bool();
  };
  if (is_on("nameOnly") && is_on("authorizedCollections")) return {};
  return {{Privilege::Resource::kDatabase, "listCollections", std::string(request.database)}};
}

// --- create

// Options of servers that this store does not have. Refused, because the collection would otherwise
// not have the properties that the client asked for.
constexpr const char* kUnsupportedOptions[] = {
    "timeseries",    "expireAfterSeconds",  "clusteredIndex",
    "storageEngine", "indexOptionDefaults", "encryptedFields",
    "temp"};

// Reads and checks the definition of the index on _id. The store creates this index in any case.
Result<std::optional<engine::IndexDefinition>> read_id_index(Arguments& arguments) {
  GM_ASSIGN(const std::optional<bson::View> given, arguments.document("idIndex"));
  if (!given) return std::optional<engine::IndexDefinition>();
  if (arguments.has("viewOn")) {
    return fail(ErrorCode::kInvalidOptions, "'idIndex' is not allowed with 'viewOn'");
  }
  if (!given->find("name")) {
    return fail(ErrorCode::kFailedToParse,
                "The 'name' field is a required property of an index specification, in 'idIndex'");
  }
  GM_ASSIGN(engine::IndexDefinition index, engine::IndexDefinition::parse(*given));
  const bson::View keys = index.keys;
  const bool is_id = !keys.empty() && (*keys.begin()).key == "_id" &&
                     (*keys.begin()).value.integral() == 1 && ++keys.begin() == keys.end();
  if (is_id) return std::optional(std::move(index));
  return fail(ErrorCode::kBadValue,
              "The field 'key' for an _id index must be {_id: 1}, in 'idIndex'");
}

Status check_id_collation(const engine::Namespace& ns, const engine::IndexDefinition& id_index,
                          bson::View options) {
  if (!id_index.collation) return {};
  GM_ASSIGN(const engine::CollectionOptions wanted, engine::CollectionOptions::parse(ns, options));
  const bson::View collation = wanted.collation ? wanted.collation->view() : bson::View();
  if (bson::compare(id_index.collation->view(), collation) == 0) return {};
  return fail(ErrorCode::kBadValue,
              "'idIndex' must have the same collation as the collection " + ns.full());
}

// Returns true if the collection exists with the same options. Since MongoDB 7.0, creating it again
// is not an error.
Result<bool> is_there(engine::Database& database, engine::Transaction& transaction,
                      const engine::Namespace& ns, bson::View options) {
  GM_ASSIGN(const std::optional<engine::CollectionInfo> info,
            database.collection_info(transaction, ns.collection));
  if (!info) return false;
  GM_ASSIGN(const engine::CollectionOptions wanted, engine::CollectionOptions::parse(ns, options));
  GM_ASSIGN(const engine::CollectionOptions has,
            engine::CollectionOptions::parse(ns, info->options));
  const bson::Document wanted_document = wanted.document();
  const bson::Document has_document = has.document();
  return std::ranges::equal(wanted_document.view().bytes(), has_document.view().bytes());
}

Status run_create(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_ASSIGN(const std::optional<engine::IndexDefinition> id_index, read_id_index(arguments));
  for (const char* const name : kUnsupportedOptions) GM_TRY(refuse_option(arguments, name));
  bson::Builder options;
  for (const char* const name :
       {"capped", "autoIndexId", "size", "max", "flags", "validator", "validationLevel",
        "validationAction", "viewOn", "pipeline", "collation", "changeStreamPreAndPostImages"}) {
    if (const std::optional<bson::ValueView> value = arguments.any(name)) {
      options.append(name, *value);
    }
  }
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  // Nothing to create: system.views shows the views that exist. Tools that restore a dump create
  // system.views first.
  if (ns.collection == "system.views") return {};
  GM_TRY(check_system_name(ns));
  const bson::Document document = std::move(options).finish();
  if (id_index) GM_TRY(check_id_collation(ns, *id_index, document));
  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  return change_schema(call, [&](engine::Transaction& transaction) -> Status {
    GM_ASSIGN(const bool is_there_already, is_there(*database, transaction, ns, document));
    if (is_there_already) return {};
    return database->create(transaction, ns.collection, document);
  });
}

// --- drop

Status run_drop(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  GM_TRY(check_not_of_users(ns, "can't drop system collection "));
  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  size_t indexes = 0;
  bool existed = false;
  const auto change = [&](engine::Transaction& transaction) -> Status {
    GM_ASSIGN(existed, database->exists(transaction, ns.collection));
    // Since MongoDB 7.0, dropping a collection that does not exist is not an error.
    if (!existed) return {};
    GM_ASSIGN(const auto info, database->collection_info(transaction, ns.collection));
    if (info && !info->options.find("viewOn")) {
      GM_ASSIGN(const auto definitions, database->collection(ns.collection)->indexes(transaction));
      indexes = definitions.size();
    }
    return database->drop(transaction, ns.collection);
  };
  GM_TRY(change_schema(call, change));
  if (!existed) return {};
  if (indexes > 0) reply.append("nIndexesWas", static_cast<int32_t>(indexes));
  reply.append("ns", ns.full());
  return {};
}

// --- collMod, convertToCapped

Status run_coll_mod(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  for (const char* const name : {"changeStreamPreAndPostImages", "recordPreImages",
                                 "expireAfterSeconds", "timeseries", "dryRun"}) {
    GM_TRY(refuse_option(arguments, name));
  }
  GM_ASSIGN(const std::optional<bson::View> index, arguments.document("index"));
  // Refuses duplicate fields. Otherwise the store might find the index with one of them and change
  // it with the other.
  if (index) GM_TRY(Arguments::of("collMod.index", *index));
  bson::Builder changes;
  for (const char* const name : {"index", "validator", "validationLevel", "validationAction",
                                 "viewOn", "pipeline", "cappedSize", "cappedMax"}) {
    if (const std::optional<bson::ValueView> value = arguments.any(name)) {
      changes.append(name, *value);
    }
  }
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  const bson::Document document = std::move(changes).finish();
  bson::Document changed;
  const auto change = [&](engine::Transaction& transaction) -> Status {
    GM_ASSIGN(changed,
              call.store().database(ns.database)->modify(transaction, ns.collection, document));
    return {};
  };
  GM_TRY(change_schema(call, change));
  reply.append_all(changed);
  return {};
}

Status run_convert_to_capped(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  const std::optional<bson::ValueView> given = arguments.any("size");
  const std::optional<int64_t> size = given ? bson::clamped_integer(*given) : std::nullopt;
  if (!size || *size <= 0) {
    return fail(ErrorCode::kInvalidOptions,
                "Capped collection size must be a number greater than zero, in 'size'");
  }
  GM_TRY(arguments.finish());
  // Servers convert a collection under a temporary name, which a system collection cannot have.
  if (ns.collection.starts_with("system.")) {
    return fail(ErrorCode::kBadValue,
                "Invalid namespace: the system collection " + ns.full() + " cannot be converted");
  }
  call.set_ns(ns);
  return change_schema(call, [&](engine::Transaction& transaction) {
    return call.store().database(ns.database)->convert_to_capped(transaction, ns.collection, *size);
  });
}

Command of_collection(std::string_view name, Status (*run)(Call&, bson::Builder&),
                      std::vector<std::string_view> actions, std::string_view about) {
  Command command{.name = name, .run = run};
  command.scope = Command::Scope::kCollection;
  command.actions = std::move(actions);
  command.rules = {.write_concern = true, .in_api_version_1 = true};
  command.about = about;
  return command;
}

}  // namespace

Commands collection_commands() {
  Command list_databases{.name = "listDatabases", .run = run_list_databases};
  // listDatabases needs no privilege: a client without the privilege listDatabases sees only the
  // databases in which it has privileges.
  list_databases.rules = {.in_api_version_1 = true};
  list_databases.admin_only = true;
  list_databases.about = "lists the databases";

  Command drop_database{.name = "dropDatabase", .run = run_drop_database};
  drop_database.scope = Command::Scope::kDatabase;
  drop_database.actions = {"dropDatabase"};
  drop_database.rules = {.write_concern = true, .in_api_version_1 = true};
  drop_database.about = "drops a database";

  Command list_collections{.name = "listCollections", .run = run_list_collections};
  list_collections.privileges = list_collections_privileges;
  list_collections.rules = {.in_api_version_1 = true};
  list_collections.about = "lists the collections of a database";

  Command convert = of_collection("convertToCapped", run_convert_to_capped, {"convertToCapped"},
                                  "converts a collection to a capped collection");
  convert.rules.in_api_version_1 = false;
  return {
      list_databases,
      drop_database,
      list_collections,
      convert,
      of_collection("create", run_create, {"createCollection"}, "creates a collection or a view"),
      of_collection("drop", run_drop, {"dropCollection"}, "drops a collection"),
      of_collection("collMod", run_coll_mod, {"collMod"}, "changes the options of a collection")};
}

}  // namespace gridmount::wire
