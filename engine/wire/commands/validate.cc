// validate. Source: MongoDB manual, "validate".

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/read_arguments.h"
#include "engine/wire/commands/schema_change.h"

namespace gridmount::wire {
namespace {

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
  // Only `metadata` changes what validate reads. Without `metadata`, validate reads everything. A
  // snapshot needs no exclusive lock. Drivers still send `scandata` to servers of all versions.
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

}  // namespace

Commands validate_commands() {
  return {collection_command("validate", run_validate, "validate", "checks a collection")};
}

}  // namespace gridmount::wire
