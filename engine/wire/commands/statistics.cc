// Statistics of collections and databases: collStats, dbStats, dataSize.
// Source: MongoDB manual, "Diagnostic Commands".

#include "engine/aggregation/statistics.h"

#include <chrono>
#include <string>
#include <utility>

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/read_arguments.h"
#include "engine/wire/commands/schema_change.h"

namespace gridmount::wire {
namespace {

Result<int64_t> read_scale(Arguments& arguments) {
  GM_ASSIGN(const std::optional<int64_t> scale, arguments.integer_from("scale", 1));
  return scale.value_or(1);
}

Status run_coll_stats(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_ASSIGN(const int64_t scale, read_scale(arguments));
  GM_TRY(arguments.boolean("waitForLock"));
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  GM_ASSIGN(const bson::Document stats,
            aggregation::collection_stats(*database, *snapshot, ns.collection, scale));
  reply.append_all(stats);
  return {};
}

Status run_db_stats(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  arguments.ignore(arguments.path());
  GM_ASSIGN(const std::string name, arguments.database());
  GM_ASSIGN(const int64_t scale, read_scale(arguments));
  GM_ASSIGN(const bool free_storage, arguments.boolean("freeStorage"));
  GM_TRY(arguments.finish());
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  GM_ASSIGN(const bson::Document stats,
            aggregation::database_stats(call.store(), *snapshot, name, scale));
  reply.append_all(stats);
  if (free_storage) {
    // The free pages of the file belong to no single database.
    for (const char* const field :
         {"freeStorageSize", "indexFreeStorageSize", "totalFreeStorageSize"}) {
      reply.append(field, 0.0);
    }
  }
  return {};
}

Status run_data_size(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  const auto begin = std::chrono::steady_clock::now();
  GM_ASSIGN(const std::string_view full, arguments.required_string("dataSize"));
  for (const char* const name : {"keyPattern", "min", "max"}) {
    GM_TRY(refuse_option(arguments, name));
  }
  GM_TRY(arguments.boolean("estimate"));  // no effect: the store maintains the exact sum
  GM_TRY(arguments.finish());
  const size_t dot = full.find('.');
  const engine::Namespace ns{
      std::string(full.substr(0, dot)),
      dot == std::string_view::npos ? std::string() : std::string(full.substr(dot + 1))};
  GM_TRY(engine::check_namespace(ns));
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  GM_TRY(check_no_view(*database, *snapshot, ns));
  GM_ASSIGN(const engine::CollectionStats stats,
            database->collection(ns.collection)->stats(*snapshot));
  reply.append("estimate", false).append("size", stats.document_bytes);
  reply.append("numObjects", stats.documents);
  const auto spent = std::chrono::steady_clock::now() - begin;
  reply.append("millis", static_cast<int32_t>(
                             std::chrono::duration_cast<std::chrono::milliseconds>(spent).count()));
  return {};
}

std::vector<Privilege> data_size_privileges(const Request& request) {
  const bson::ValueView name = (*request.body.begin()).value;
  if (name.type() != bson::Type::kString) return {};
  const std::string_view full = name.as_string();
  const size_t dot = full.find('.');
  return {{Privilege::Resource::kCollection, "find", std::string(full.substr(0, dot)),
           dot == std::string_view::npos ? std::string() : std::string(full.substr(dot + 1))}};
}

}  // namespace

Commands statistics_commands() {
  Command coll_stats{.name = "collStats", .other_names = {"collstats"}, .run = run_coll_stats};
  coll_stats.scope = Command::Scope::kCollection;
  coll_stats.actions = {"collStats"};
  coll_stats.about = "shows statistics of a collection";
  coll_stats.rules.read_concern = true;
  Command db_stats{.name = "dbStats", .other_names = {"dbstats"}, .run = run_db_stats};
  db_stats.scope = Command::Scope::kDatabase;
  db_stats.actions = {"dbStats"};
  db_stats.about = "shows statistics of a database";
  Command data_size{.name = "dataSize", .other_names = {"datasize"}, .run = run_data_size};
  data_size.privileges = data_size_privileges;
  data_size.about = "shows the size of a collection";
  return {coll_stats, db_stats, data_size};
}

}  // namespace gridmount::wire
