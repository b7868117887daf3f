// Indexes: createIndexes, listIndexes, dropIndexes, reIndex.
// Source: MongoDB manual, "Administration Commands".

#include <algorithm>
#include <string>

#include "engine/bson/compare.h"
#include "engine/bson/text.h"
#include "engine/query/plan/index_option_names.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/cursor_reply.h"
#include "engine/wire/commands/schema_change.h"

namespace gridmount::wire {
namespace {

using bson::Type;
using engine::IndexDefinition;
using Indexes = std::vector<IndexDefinition>;

constexpr std::string_view kIdIndex = "_id_";
constexpr ErrorCode kAmbiguousKeys{181};

// --- createIndexes

// Checks the specification of an ascending or descending index on _id alone. The keys must be {_id:
// 1}, and there must be no options other than kOptions.
Status check_id_index(bson::View specification) {
  constexpr std::string_view kOptions[] = {"v", "key", "name", "ns", "collation", "background"};
  const std::optional<bson::ValueView> keys = specification.find("key");
  if (!keys || keys->type() != Type::kDocument || keys->as_document().empty()) return {};
  const bson::Element first = *keys->as_document().begin();
  const std::optional<int64_t> direction = first.value.integral();
  const bool is_id =
      first.key == "_id" && ++keys->as_document().begin() == keys->as_document().end();
  if (!is_id || (direction != 1 && direction != -1)) return {};
  for (const bson::Element option : specification) {
    if (std::ranges::find(kOptions, option.key) != std::end(kOptions)) continue;
    return fail(ErrorCode::kInvalidIndexSpecificationOption,
                "The field '" + std::string(option.key) +
                    "' is not valid for an _id index specification. Specification: " +
                    bson::to_text(specification));
  }
  if (direction == 1) return {};
  return fail(ErrorCode::kBadValue, "The field 'key' for an _id index must be {_id: 1}, but got " +
                                        bson::to_text(keys->as_document()));
}

Result<IndexDefinition> read_index(bson::View specification, bool ignore_unknown) {
  bson::Builder known;
  for (const bson::Element option : specification) {
    // With `ignore_unknown`, unknown options are left out and do not make the index invalid.
    if (ignore_unknown && !query::is_index_option(option.key)) continue;
    known.append(option.key, option.value);
  }
  const bson::Document whole = std::move(known).finish();
  GM_TRY(check_id_index(whole));
  for (const bson::Element option : bson::View(whole)) {
    if (!query::is_index_option(option.key)) return IndexDefinition::parse(whole);
  }
  if (!whole.find("key")) {
    return fail(ErrorCode::kFailedToParse,
                "Error in specification " + bson::to_text(whole) +
                    " :: caused by :: The 'key' field is a required property of an index "
                    "specification");
  }
  if (!whole.find("name")) {
    return fail(ErrorCode::kFailedToParse,
                "Error in specification " + bson::to_text(whole) +
                    " :: caused by :: The 'name' field is a required property of an index "
                    "specification");
  }
  return IndexDefinition::parse(whole);
}

Result<Indexes> read_indexes(Arguments& arguments) {
  GM_ASSIGN(const std::vector<bson::View> specifications, arguments.documents("indexes"));
  GM_ASSIGN(const bool ignore_unknown, arguments.boolean("ignoreUnknownIndexOptions"));
  if (specifications.empty()) {
    return fail(ErrorCode::kBadValue, "Must specify at least one index to create");
  }
  Indexes indexes;
  for (const bson::View specification : specifications) {
    GM_ASSIGN(IndexDefinition index, read_index(specification, ignore_unknown));
    indexes.push_back(std::move(index));
  }
  return indexes;
}

Status run_create_indexes(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_ASSIGN(const Indexes indexes, read_indexes(arguments));
  if (arguments.any("commitQuorum")) {
    return fail(ErrorCode::kBadValue, "Standalones can't specify commitQuorum");
  }
  GM_TRY(arguments.finish());
  GM_TRY(check_system_name(ns));
  call.set_ns(ns);
  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  const std::unique_ptr<engine::Collection> collection = database->collection(ns.collection);
  size_t before = 0;
  size_t after = 0;
  bool existed = false;
  const auto change = [&](engine::Transaction& transaction) -> Status {
    GM_TRY(check_no_view(*database, transaction, ns));
    GM_ASSIGN(existed, database->exists(transaction, ns.collection));
    if (!existed) GM_TRY(database->create(transaction, ns.collection, bson::View()));
    GM_ASSIGN(const Indexes had, collection->indexes(transaction));
    before = had.size();
    for (const IndexDefinition& index : indexes) {
      GM_TRY(collection->create_index(transaction, index));
    }
    GM_ASSIGN(const Indexes has, collection->indexes(transaction));
    after = has.size();
    return {};
  };
  GM_TRY(change_schema(call, change));
  reply.append("numIndexesBefore", static_cast<int32_t>(before));
  reply.append("numIndexesAfter", static_cast<int32_t>(after));
  if (before == after && existed) {
    reply.append("note", "all indexes already exist");
    return {};
  }
  reply.append("createdCollectionAutomatically", !existed);
  if (before == after) reply.append("note", "all indexes already exist");
  return {};
}

// --- listIndexes

// Fails with NamespaceNotFound if there is no collection, and with CommandNotSupportedOnView for
// views, which have no indexes.
Status check_collection(engine::Database& database, engine::Snapshot& snapshot,
                        const engine::Namespace& ns, const char* missing) {
  GM_ASSIGN(const std::optional<engine::CollectionInfo> info,
            database.collection_info(snapshot, ns.collection));
  if (!info) return fail(ErrorCode::kNamespaceNotFound, missing + ns.full());
  return check_no_view(database, snapshot, ns);
}

Status run_list_indexes(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_ASSIGN(const std::optional<bson::View> cursor, arguments.document("cursor"));
  GM_ASSIGN(const CursorRequest request,
            read_cursor_argument("listIndexes.cursor", cursor, kWholeList));
  GM_TRY(arguments.boolean("includeBuildUUIDs"));
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  GM_TRY(check_collection(*database, *snapshot, ns, "ns does not exist: "));
  GM_ASSIGN(const Indexes indexes, database->collection(ns.collection)->indexes(*snapshot));
  std::vector<bson::Document> documents;
  for (const IndexDefinition& index : indexes) documents.push_back(index.specification());
  return reply_first_batch(call, reply, ns, nullptr,
                           std::make_unique<ListCursor>(std::move(documents)), request);
}

// --- dropIndexes

Status cannot_drop_id() {
  return fail(ErrorCode::kInvalidOptions, "cannot drop _id index");
}

Result<std::string> name_of(const Indexes& indexes, bson::ValueView which) {
  if (which.type() == Type::kString) {
    const std::string name(which.as_string());
    const bool found = std::any_of(indexes.begin(), indexes.end(),
                                   [&](const IndexDefinition& one) { return one.name == name; });
    if (found) return name;
    return fail(ErrorCode::kIndexNotFound, "index not found with name [" + name + "]");
  }
  const bson::View keys = which.as_document();
  const auto has_keys = [&](const IndexDefinition& one) {
    return bson::compare(one.keys.view(), keys) == 0;
  };
  const auto found = std::find_if(indexes.begin(), indexes.end(), has_keys);
  if (found == indexes.end()) {
    return fail(ErrorCode::kIndexNotFound, "can't find index with key: " + bson::to_text(keys));
  }
  // Indexes with the same keys differ in their options. Only the name identifies one of them.
  if (const auto other = std::find_if(found + 1, indexes.end(), has_keys); other != indexes.end()) {
    return fail(kAmbiguousKeys,
                std::to_string(std::count_if(indexes.begin(), indexes.end(), has_keys)) +
                    " indexes found for key: " + bson::to_text(keys) +
                    ", identify by name instead. Conflicting indexes: " + found->name + ", " +
                    other->name);
  }
  return found->name;
}

// Returns true for "*". As in mongod 6.0.5, also returns true for a list that begins with "*".
bool selects_all(bson::ValueView which) {
  const bool is_list = which.type() == Type::kArray && !which.as_document().empty();
  const bson::ValueView first = is_list ? (*which.as_document().begin()).value : which;
  return first.type() == Type::kString && first.as_string() == "*";
}

// Returns the names of the indexes that `which` selects: "*", a name, several names, or keys.
Result<std::vector<std::string>> names_of(const Indexes& indexes, bson::ValueView which) {
  std::vector<std::string> names;
  if (selects_all(which)) {
    for (const IndexDefinition& index : indexes) {
      if (index.name != kIdIndex) names.push_back(index.name);
    }
    return names;
  }
  std::vector<bson::ValueView> asked;
  if (which.type() == Type::kArray) {
    for (const bson::Element element : which.as_document()) asked.push_back(element.value);
  } else {
    asked.push_back(which);
  }
  for (const bson::ValueView one : asked) {
    GM_ASSIGN(std::string name, name_of(indexes, one));
    if (name == kIdIndex) return fail(cannot_drop_id().error());
    names.push_back(std::move(name));
  }
  return names;
}

Result<bson::ValueView> read_which(Arguments& arguments) {
  GM_ASSIGN(const bson::ValueView which, arguments.required("index"));
  bool fits = which.type() == Type::kString || which.type() == Type::kDocument;
  if (which.type() == Type::kArray) {
    fits = true;
    for (const bson::Element element : which.as_document()) {
      fits = fits && element.value.type() == Type::kString;
    }
  }
  if (fits) return which;
  return arguments.wrong_type("index", which, "types '[array, string, object]'");
}

Status run_drop_indexes(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_ASSIGN(const bson::ValueView which, read_which(arguments));
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  const std::unique_ptr<engine::Collection> collection = database->collection(ns.collection);
  size_t before = 0;
  const auto change = [&](engine::Transaction& transaction) -> Status {
    GM_TRY(check_collection(*database, transaction, ns, "ns not found "));
    GM_ASSIGN(const Indexes indexes, collection->indexes(transaction));
    before = indexes.size();
    GM_ASSIGN(const std::vector<std::string> names, names_of(indexes, which));
    for (const std::string& name : names) GM_TRY(collection->drop_index(transaction, name));
    return {};
  };
  GM_TRY(change_schema(call, change));
  reply.append("nIndexesWas", static_cast<int32_t>(before));
  if (selects_all(which)) {
    reply.append("msg", "non-_id indexes dropped for collection");
  }
  return {};
}

// --- reIndex

Status run_re_index(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  const std::unique_ptr<engine::Collection> collection = database->collection(ns.collection);
  Indexes indexes;
  const auto change = [&](engine::Transaction& transaction) -> Status {
    GM_TRY(check_collection(*database, transaction, ns, "collection does not exist: "));
    GM_ASSIGN(indexes, collection->indexes(transaction));
    // The store finds documents by the index on _id, so this index cannot be dropped and built
    // again.
    for (const IndexDefinition& index : indexes) {
      if (index.name == kIdIndex) continue;
      GM_TRY(collection->drop_index(transaction, index.name));
      GM_TRY(collection->create_index(transaction, index));
    }
    return {};
  };
  GM_TRY(change_schema(call, change));
  reply.append("nIndexesWas", static_cast<int32_t>(indexes.size()));
  reply.append("nIndexes", static_cast<int32_t>(indexes.size())).open_array("indexes");
  for (const IndexDefinition& index : indexes) reply.push(index.specification().view());
  reply.close();
  return {};
}

Command of_collection(std::string_view name, Status (*run)(Call&, bson::Builder&),
                      std::string_view action, std::string_view about) {
  Command command{.name = name, .run = run};
  command.scope = Command::Scope::kCollection;
  command.actions = {action};
  command.rules = {.write_concern = true, .in_api_version_1 = true};
  command.about = about;
  return command;
}

}  // namespace

Commands index_commands() {
  Command list = of_collection("listIndexes", run_list_indexes, "listIndexes",
                               "lists the indexes of a collection");
  list.rules.write_concern = false;
  Command drop = of_collection("dropIndexes", run_drop_indexes, "dropIndex", "drops indexes");
  drop.other_names = {"deleteIndexes"};
  Command re_index = of_collection("reIndex", run_re_index, "reIndex", "rebuilds indexes");
  re_index.rules.in_api_version_1 = false;
  return {of_collection("createIndexes", run_create_indexes, "createIndex", "creates indexes"),
          list, drop, re_index};
}

}  // namespace gridmount::wire
