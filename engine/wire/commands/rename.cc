// renameCollection. Source: MongoDB manual, "renameCollection".

#include <string>

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/schema_change.h"
#include "engine/wire/privilege_check.h"

namespace gridmount::wire {
namespace {

using bson::Type;

Result<engine::Namespace> read_full_name(std::string_view full) {
  const size_t dot = full.find('.');
  engine::Namespace ns{std::string(full.substr(0, dot)),
                       dot == std::string_view::npos ? "" : std::string(full.substr(dot + 1))};
  GM_TRY(engine::check_namespace(ns));
  return ns;
}

Privilege on(const engine::Namespace& ns, std::string_view action) {
  return {Privilege::Resource::kCollection, action, ns.database, ns.collection};
}

bool is_system(const engine::Namespace& ns) {
  return ns.collection.starts_with("system.");
}

// Within a database, the privilege renameCollectionSameDB is enough if the client may read both
// names or neither of them. Then the rename does not let the client read more data. Otherwise the
// rename needs the privileges of a copy and a drop.
Status check_may_rename(Call& call, const engine::Namespace& from, const engine::Namespace& to,
                        bool drops_target) {
  const auto may = [&](const Privilege& privilege) {
    return check_privilege(call, privilege).has_value();
  };
  if (from.database == to.database && !is_system(from) && !is_system(to)) {
    const bool may_rename =
        may({Privilege::Resource::kDatabase, "renameCollectionSameDB", from.database});
    const bool may_drop = !drops_target || may(on(to, "dropCollection"));
    if (may_rename && may_drop && may(on(from, "find")) == may(on(to, "find"))) return {};
  }
  GM_TRY(check_privilege(call, on(from, "find")));
  GM_TRY(check_privilege(call, on(from, "dropCollection")));
  GM_TRY(check_privilege(call, on(to, "insert")));
  GM_TRY(check_privilege(call, on(to, "createIndex")));
  if (drops_target) GM_TRY(check_privilege(call, on(to, "dropCollection")));
  return {};
}

Status run_rename(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::string_view from_name, arguments.required_string("renameCollection"));
  GM_ASSIGN(const std::string_view to_name, arguments.required_string("to"));
  // Accepts only a boolean, so that it is clear whether the rename needs the privilege to drop.
  const std::optional<bson::ValueView> drops = arguments.any("dropTarget");
  if (drops && drops->type() != Type::kBool) {
    return arguments.wrong_type("dropTarget", *drops, "types '[bool, binData]'");
  }
  const bool drop_target = drops && drops->as_bool();
  GM_TRY(arguments.boolean("stayTemp"));
  GM_TRY(arguments.finish());
  GM_ASSIGN(const engine::Namespace from, read_full_name(from_name));
  GM_ASSIGN(const engine::Namespace to, read_full_name(to_name));
  GM_TRY(check_may_rename(call, from, to, drop_target));
  GM_TRY(check_system_name(to));
  GM_TRY(check_not_of_users(from, "cannot rename system collection "));
  GM_TRY(check_not_of_users(to, "cannot rename to system collection "));
  call.set_ns(from);
  return change_schema(call, [&](engine::Transaction& transaction) -> Status {
    const std::shared_ptr<engine::Database> database = call.store().database(from.database);
    GM_TRY(check_no_view(*database, transaction, from));
    if (!check_no_view(*call.store().database(to.database), transaction, to)) {
      return fail(ErrorCode::kNamespaceExists,
                  "a view already exists with that name: " + to.full());
    }
    return database->rename(transaction, from.collection, to, drop_target);
  });
}

}  // namespace

// The privileges depend on source and target, so run_rename() checks them.
Commands rename_commands() {
  Command rename{.name = "renameCollection", .run = run_rename};
  rename.rules = {.write_concern = true};
  rename.admin_only = true;
  rename.about = "renames a collection or moves it to another database";
  return {rename};
}

}  // namespace gridmount::wire
