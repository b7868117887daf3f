// Information about users and built-in roles: usersInfo, rolesInfo.
// Source: MongoDB manual, "usersInfo", "rolesInfo".

#include <algorithm>
#include <string>

#include "engine/query/filter/filter.h"
#include "engine/wire/auth/access_control.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/role_argument.h"
#include "engine/wire/privilege_check.h"

namespace gridmount::wire {
namespace {

using bson::Type;

// --- usersInfo: 1, "name", {user, db}, an array of those, or {forAllDBs: true}

Result<UserName> name_of(bson::ValueView value, const std::string& database) {
  if (value.type() == Type::kString) return UserName{std::string(value.as_string()), database};
  if (value.type() != Type::kDocument) {
    return fail(ErrorCode::kBadValue, "User and role names must be either strings or objects");
  }
  GM_ASSIGN(Arguments fields, Arguments::of("usersInfo", value.as_document()));
  GM_ASSIGN(const std::string_view user, fields.required_string("user"));
  GM_ASSIGN(const std::string_view of, fields.required_string("db"));
  GM_TRY(fields.finish());
  return UserName{std::string(user), std::string(of)};
}

struct AskedUsers {
  bool of_all = false;
  bool of_database = false;  // all users of the command's database
  std::vector<UserName> names = {};

  bool are_named() const { return !of_all && !of_database; }
};

Result<AskedUsers> read_asked_users(bson::ValueView asked, const std::string& database) {
  if (asked.number()) return AskedUsers{.of_database = true};
  if (asked.type() == Type::kDocument && asked.as_document().find("forAllDBs")) {
    GM_ASSIGN(Arguments fields, Arguments::of("usersInfo", asked.as_document()));
    GM_ASSIGN(const std::optional<bool> all, fields.strict_boolean("forAllDBs"));
    GM_TRY(fields.finish());
    if (!all.value_or(false)) {
      return fail(ErrorCode::kBadValue, "usersInfo: 'forAllDBs' can only be true");
    }
    return AskedUsers{.of_all = true};
  }
  AskedUsers users;
  if (asked.type() != Type::kArray) {
    GM_ASSIGN(UserName name, name_of(asked, database));
    users.names.push_back(std::move(name));
    return users;
  }
  for (const bson::Element element : asked.as_document()) {
    GM_ASSIGN(UserName name, name_of(element.value, database));
    users.names.push_back(std::move(name));
  }
  if (users.names.empty()) {
    return fail(ErrorCode::kBadValue, "usersInfo: the array of users must not be empty");
  }
  return users;
}

// Fails unless the client has the privilege viewUser on the databases of the requested users, or on
// the cluster for all users. Every client may view its own user.
Status check_may_view(Call& call, const AskedUsers& asked) {
  if (asked.of_all) return check_privilege(call, {Privilege::Resource::kCluster, "viewUser"});
  if (asked.of_database) {
    return check_privilege(
        call, {Privilege::Resource::kDatabase, "viewUser", std::string(call.request().database)});
  }
  const std::optional<Identity> identity = call.state().access().identity(call.client());
  for (const UserName& name : asked.names) {
    if (identity && identity->user == name) continue;
    GM_TRY(check_privilege(call, {Privilege::Resource::kDatabase, "viewUser", name.database}));
  }
  return {};
}

Result<std::vector<User>> find_users(Call& call, const AskedUsers& asked) {
  UserDirectory& users = call.state().access().users();
  if (asked.of_all) return users.list(std::nullopt);
  if (asked.of_database) return users.list(std::string(call.request().database));
  std::vector<User> found;
  for (const UserName& name : asked.names) {
    GM_ASSIGN(std::optional<User> user, users.find(name));
    if (user) found.push_back(*std::move(user));
  }
  return found;
}

// Appends the inherited roles and privileges. All roles are built in and contain no other roles.
void append_inherited(const User& user, const bson::Document& stored, bson::Builder& out) {
  out.append("inheritedRoles", stored.view()["roles"]);
  bson::Builder& privileges = out.open_array("inheritedPrivileges");
  append_privileges(privileges, Permissions(user.roles));
  privileges.close();
  out.open_array("inheritedAuthenticationRestrictions").close();
}

bson::Document shown(const User& user, bool with_credentials, bool with_privileges) {
  bson::Builder out;
  out.append("_id", user.name.id());
  if (!user.uuid.empty()) append_uuid(out, user.uuid);
  out.append("user", user.name.name).append("db", user.name.database);
  const bson::Document stored = user.to_bson();
  if (with_credentials) out.append("credentials", stored.view()["credentials"]);
  if (!user.custom_data.view().empty()) out.append("customData", user.custom_data);
  out.append("roles", stored.view()["roles"]);
  bson::Builder& mechanisms = out.open_array("mechanisms");
  for (const auto& [mechanism, credentials] : user.credentials) {
    mechanisms.push(bson::Value(mechanism_name(mechanism)).view());
  }
  if (user.is_external) mechanisms.push(bson::Value("external").view());
  mechanisms.close();
  if (with_privileges) append_inherited(user, stored, out);
  return std::move(out).finish();
}

Status run_users_info(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const bson::ValueView asked, arguments.required("usersInfo"));
  GM_ASSIGN(const bool with_credentials, arguments.boolean("showCredentials"));
  GM_ASSIGN(const bool with_privileges, arguments.boolean("showPrivileges"));
  GM_ASSIGN(const bool with_custom_data, arguments.boolean("showCustomData", true));
  GM_TRY(arguments.boolean("showAuthenticationRestrictions"));
  GM_ASSIGN(const bson::View filter, arguments.document_or_empty("filter"));
  GM_TRY(arguments.finish());
  GM_ASSIGN(const AskedUsers names, read_asked_users(asked, std::string(call.request().database)));
  GM_TRY(check_may_view(call, names));
  if (with_privileges && !names.are_named()) {
    return fail(ErrorCode::kIllegalOperation,
                "Privilege or restriction details require exact-match usersInfo queries");
  }
  GM_ASSIGN(const query::Filter wanted, query::Filter::parse(filter));
  GM_ASSIGN(std::vector<User> users, find_users(call, names));
  bson::Builder& list = reply.open_array("users");
  for (User& user : users) {
    if (!with_custom_data) user.custom_data = bson::Document();
    const bson::Document document = shown(user, with_credentials, with_privileges);
    if (wanted.matches(document)) list.push(document.view());
  }
  list.close();
  return {};
}

// --- rolesInfo: 1, "name", {role, db} or an array of those

// Returns the requested roles that exist. Every client may view its own roles.
Result<std::vector<Role>> asked_roles(Call& call, bson::ValueView asked, bool with_builtin) {
  const std::string database(call.request().database);
  if (asked.number()) {
    GM_TRY(check_privilege(call, {Privilege::Resource::kDatabase, "viewRole", database}));
    std::vector<Role> roles;
    if (!with_builtin) return roles;
    for (const std::string_view name : builtin_roles(database)) {
      roles.push_back({std::string(name), database});
    }
    return roles;
  }
  std::vector<Role> names;
  if (asked.type() == Type::kArray) {
    for (const bson::Element element : asked.as_document()) {
      GM_ASSIGN(Role name, role_name_of(element.value, database));
      names.push_back(std::move(name));
    }
  } else {
    GM_ASSIGN(Role name, role_name_of(asked, database));
    names.push_back(std::move(name));
  }
  const std::optional<Identity> identity = call.state().access().identity(call.client());
  for (const Role& name : names) {
    if (identity && std::ranges::find(identity->roles, name) != identity->roles.end()) continue;
    GM_TRY(check_privilege(call, {Privilege::Resource::kDatabase, "viewRole", name.database}));
  }
  std::erase_if(names, [](const Role& name) { return !is_builtin_role(name); });
  return names;
}

Status run_roles_info(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const bson::ValueView asked, arguments.required("rolesInfo"));
  GM_ASSIGN(const bool with_builtin, arguments.boolean("showBuiltinRoles"));
  GM_ASSIGN(const bool with_privileges, arguments.boolean("showPrivileges"));
  GM_TRY(arguments.boolean("showAuthenticationRestrictions"));
  GM_TRY(arguments.finish());
  GM_ASSIGN(const std::vector<Role> roles, asked_roles(call, asked, with_builtin));
  bson::Builder& list = reply.open_array("roles");
  for (const Role& role : roles) {
    bson::Builder& out = list.push_open_document();
    out.append("role", role.name).append("db", role.database).append("isBuiltin", true);
    out.open_array("roles").close();
    out.open_array("inheritedRoles").close();
    if (with_privileges) {
      for (const char* const name : {"privileges", "inheritedPrivileges"}) {
        bson::Builder& privileges = out.open_array(name);
        append_privileges(privileges, Permissions(std::span(&role, 1)));
        privileges.close();
      }
    }
    out.close();
  }
  list.close();
  return {};
}

}  // namespace

// The privileges depend on the requested users or roles and on the client, so the commands check
// them while they run.
Commands user_info_commands() {
  Command users_info{.name = "usersInfo", .run = run_users_info};
  users_info.about = "shows users";
  Command roles_info{.name = "rolesInfo", .run = run_roles_info};
  roles_info.about = "shows roles";
  return {users_info, roles_info};
}

}  // namespace gridmount::wire
