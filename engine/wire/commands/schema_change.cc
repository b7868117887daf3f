#include "engine/wire/commands/schema_change.h"

#include <algorithm>

namespace gridmount::wire {

Status change_schema(Call& call, const std::function<Status(engine::Transaction&)>& change) {
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, call.begin());
  GM_TRY(call.check_interrupt());
  GM_TRY(change(*transaction));
  return call.state().commit(*transaction, call.generic().write_concern.durability);
}

Status check_no_view(engine::Database& database, engine::Snapshot& snapshot,
                     const engine::Namespace& ns) {
  GM_ASSIGN(const std::optional<engine::CollectionInfo> info,
            database.collection_info(snapshot, ns.collection));
  if (!info || !info->options.find("viewOn")) return {};
  return fail(ErrorCode::kCommandNotSupportedOnView,
              "Namespace " + ns.full() + " is a view, not a collection");
}

Status check_system_name(const engine::Namespace& ns) {
  constexpr std::string_view kSystem = "system.";
  constexpr std::string_view kAnywhere[] = {"system.js", "system.profile", "system.users"};
  constexpr std::string_view kInAdmin[] = {"system.roles", "system.version", "system.keys",
                                           "system.backup_users"};
  if (!ns.collection.starts_with(kSystem)) return {};
  if (std::ranges::find(kAnywhere, ns.collection) != std::end(kAnywhere)) return {};
  if (ns.database == "admin" && std::ranges::find(kInAdmin, ns.collection) != std::end(kInAdmin)) {
    return {};
  }
  return fail(ErrorCode::kInvalidNamespace, "Invalid system namespace: " + ns.full());
}

Status check_writable_name(const engine::Namespace& ns) {
  if (ns.collection == "system.profile") {
    return fail(ErrorCode::kInvalidNamespace, "cannot write to '" + ns.full() + "'");
  }
  return check_system_name(ns);
}

Status check_not_of_users(const engine::Namespace& ns, const std::string& refusal) {
  const bool is_of_users = ns.database == "admin" &&
                           (ns.collection == "system.users" || ns.collection == "system.version");
  if (!is_of_users) return {};
  return fail(ErrorCode::kIllegalOperation, refusal + ns.full());
}

}  // namespace gridmount::wire
