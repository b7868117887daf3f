// _mergeAuthzCollections, the last step of mongorestore. mongorestore has written the users of a
// dump to a collection of its own. The command makes all of them users of the server, or none.
// Source: the server's user_management_commands.cpp and mongorestore's RestoreUsersOrRoles.

#include <algorithm>
#include <string>

#include "engine/bson/text.h"
#include "engine/wire/auth/access_control.h"
#include "engine/wire/auth/restored_user.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

struct MergedNamespace {
  std::string database;
  std::string collection;
};

Result<std::optional<MergedNamespace>> read_namespace(Arguments& arguments,
                                                      std::string_view argument) {
  GM_ASSIGN(const std::optional<std::string_view> text, arguments.string(argument));
  if (!text || text->empty()) return std::optional<MergedNamespace>();
  const size_t dot = text->find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == text->size()) {
    return fail(ErrorCode::kInvalidNamespace, "Invalid namespace specified '" + std::string(*text) +
                                                  "' in " + std::string(argument));
  }
  return std::optional(
      MergedNamespace{std::string(text->substr(0, dot)), std::string(text->substr(dot + 1))});
}

Result<std::vector<User>> restored_users(Call& call, const MergedNamespace& where,
                                         std::string_view database) {
  engine::Store& store = call.state().store();
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store.snapshot());
  const std::unique_ptr<engine::Collection> from =
      store.database(where.database)->collection(where.collection);
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor, from->find(*snapshot, {}, {}));
  std::vector<User> users;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> next, cursor->next());
    if (!next) return users;
    GM_ASSIGN(User user, restored_user(*next, database));
    users.push_back(std::move(user));
  }
}

Status refuse_roles(Call& call, const MergedNamespace& where) {
  engine::Store& store = call.state().store();
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store.snapshot());
  GM_ASSIGN(const std::optional<bson::View> first,
            store.database(where.database)->collection(where.collection)->find_one(*snapshot, {}));
  if (!first) return {};
  return fail(ErrorCode::kCommandNotSupported,
              "Only built-in roles are supported: " + bson::to_text((*first)["_id"]) +
                  " cannot be restored");
}

Status run_merge(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  arguments.ignore("_mergeAuthzCollections");
  GM_ASSIGN(const auto users_at, read_namespace(arguments, "tempUsersCollection"));
  GM_ASSIGN(const auto roles_at, read_namespace(arguments, "tempRolesCollection"));
  GM_ASSIGN(const std::string_view database, arguments.required_string("db"));
  GM_ASSIGN(const bool drops_others, arguments.boolean("drop"));
  GM_TRY(arguments.finish());
  if (!users_at && !roles_at) {
    return fail(ErrorCode::kBadValue,
                "Must provide at least one of \"tempUsersCollection\" and \"tempRolesCollection\"");
  }
  if (roles_at) GM_TRY(refuse_roles(call, *roles_at));
  if (!users_at) return {};
  GM_ASSIGN(const std::vector<User> users, restored_users(call, *users_at, database));
  AccessControl& access = call.state().access();
  std::optional<std::string> only;
  if (!database.empty()) only = database;
  Status merged = access.users().merge(users, only, drops_others);
  access.users_changed();
  if (merged) call.state().record_change();
  return merged;
}

// Returns the privileges to create, change and drop users, and to read the collections of the dump.
std::vector<Privilege> to_merge(const Request& request) {
  std::vector<Privilege> privileges;
  for (const std::string_view action : {"createUser", "dropUser", "grantRole", "revokeRole"}) {
    privileges.push_back({Privilege::Resource::kDatabase, action, "admin"});
  }
  for (const std::string_view argument : {"tempUsersCollection", "tempRolesCollection"}) {
    const std::optional<bson::ValueView> value = request.body.find(argument);
    if (!value || value->type() != bson::Type::kString) continue;
    const std::string_view text = value->as_string();
    const size_t dot = text.find('.');
    if (dot == std::string_view::npos) continue;
    privileges.push_back({Privilege::Resource::kCollection, "find",
                          std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))});
  }
  return privileges;
}

}  // namespace

Commands merge_users_commands() {
  Command merge{.name = "_mergeAuthzCollections", .run = run_merge};
  merge.scope = Command::Scope::kDatabase;
  merge.privileges = to_merge;
  merge.admin_only = true;
  merge.rules.write_concern = true;
  merge.about = "adds the users of a dump to the server";
  return {merge};
}

}  // namespace gridmount::wire
