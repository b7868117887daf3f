// What collections and databases hold: collStats, dbStats, dataSize, validate, compact.
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
  GM_TRY(arguments.boolean("estimate"));  // no effect: the sum is maintained and always exact
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

// Validates only the definitions of the collection and its indexes. Reading them is the check.
Status validate_metadata(Call& call, const engine::Namespace& ns, bson::Builder& reply) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  GM_TRY(check_no_view(*database, *snapshot, ns));
  GM_ASSIGN(const bool exists, database->exists(*snapshot, ns.collection));
  if (!exists) {
    return fail(ErrorCode::kNamespaceNotFound,
                "Collection '" + ns.full() + "' does not exist to validate.");
  }
  GM_ASSIGN(const std::vector<engine::IndexDefinition> indexes,
            database->collection(ns.collection)->indexes(*snapshot));
  reply.append("ns", ns.full()).append("nIndexes", static_cast<int32_t>(indexes.size()));
  reply.open_document("indexDetails");
  for (const engine::IndexDefinition& index : indexes) {
    reply.open_document(index.name).append("valid", true);
    reply.append("spec", index.specification()).close();
  }
  reply.close().append("valid", true).append("repaired", false);
  for (const char* const list :
       {"warnings", "errors", "extraIndexEntries", "missingIndexEntries", "corruptRecords"}) {
    reply.open_array(list).close();
  }
  return {};
}

Status run_validate(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  // Everything is read, whichever of these options is given, except for `metadata`. A read view
  // needs no exclusive lock. Drivers still send `scandata` to servers of all versions.
  GM_ASSIGN(const bool full, arguments.boolean("full"));
  GM_ASSIGN(const bool background, arguments.boolean("background"));
  GM_ASSIGN(const bool metadata, arguments.boolean("metadata"));
  GM_ASSIGN(const bool conformance, arguments.boolean("checkBSONConformance"));
  GM_ASSIGN(const bool counts, arguments.boolean("enforceFastCount"));
  GM_TRY(arguments.boolean("scandata"));
  const auto refuse_together = [](const char* one, const char* other) {
    return fail(ErrorCode::kInvalidOptions, "Running the validate command with both { " +
                                                std::string(one) + ": true } and { " + other +
                                                ": true } is not supported.");
  };
  if (full && background) return refuse_together("background", "full");
  for (const auto& [name, given] :
       {std::pair("full", full), std::pair("background", background),
        std::pair("checkBSONConformance", conformance), std::pair("enforceFastCount", counts)}) {
    if (metadata && given) return refuse_together("metadata", name);
  }
  for (const char* const name : {"repair", "fixMultikey"}) GM_TRY(refuse_option(arguments, name));
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  if (metadata) {
    GM_TRY(validate_metadata(call, ns, reply));
  } else {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
    GM_ASSIGN(const bson::Document report,
              call.store().database(ns.database)->validate(*snapshot, ns.collection));
    reply.append_all(report);
  }
  reply.append("repairMode", "None");
  return {};
}

Status run_compact(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_TRY(arguments.boolean("force"));
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  GM_ASSIGN(const int64_t freed, call.store().compact(ns, call.deadline()));
  reply.append("bytesFreed", freed);
  return {};
}

Command of_collection(std::string_view name, Status (*run)(Call&, bson::Builder&),
                      std::string_view action, std::string_view about) {
  Command command{.name = name, .run = run};
  command.scope = Command::Scope::kCollection;
  command.actions = {action};
  command.about = about;
  return command;
}

}  // namespace

Commands statistics_commands() {
  Command coll_stats =
      of_collection("collStats", run_coll_stats, "collStats", "tells what a collection holds");
  coll_stats.other_names = {"collstats"};
  coll_stats.rules.read_concern = true;
  Command db_stats{.name = "dbStats", .other_names = {"dbstats"}, .run = run_db_stats};
  db_stats.scope = Command::Scope::kDatabase;
  db_stats.actions = {"dbStats"};
  db_stats.about = "tells what a database holds";
  Command data_size{.name = "dataSize", .other_names = {"datasize"}, .run = run_data_size};
  data_size.privileges = data_size_privileges;
  data_size.about = "tells how much a collection holds";
  return {coll_stats, db_stats, data_size,
          of_collection("validate", run_validate, "validate", "checks a collection"),
          of_collection("compact", run_compact, "compact", "gives back what is free")};
}

}  // namespace gridmount::wire
