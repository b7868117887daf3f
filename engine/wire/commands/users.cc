// Users: createUser, updateUser, dropUser, dropAllUsersFromDatabase, grantRolesToUser,
// revokeRolesFromUser.
// Source: MongoDB manual, "User Management Commands".

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/wire/auth/access_control.h"
#include "engine/wire/auth/digest.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/role_argument.h"

namespace gridmount::wire {
namespace {

using bson::Type;

constexpr std::string_view kExternal = "$external";

// Returns the user that the command's first field names, in the command's database.
Result<UserName> read_user(Call& call) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::string_view name, arguments.required_string(arguments.path()));
  if (name.empty() || name.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadValue, "User names must not be empty or hold NUL characters");
  }
  return UserName{std::string(name), std::string(call.request().database)};
}

Result<Role> read_role(bson::ValueView value, const std::string& database) {
  GM_ASSIGN(Role role, role_name_of(value, database));
  if (!is_builtin_role(role)) {
    return fail(kRoleNotFound, "Could not find role: " + role.name + "@" + role.database);
  }
  return role;
}

Result<std::optional<std::vector<Role>>> read_roles(Call& call) {
  GM_ASSIGN(const std::optional<bson::View> list, call.arguments().array("roles"));
  if (!list) return std::optional<std::vector<Role>>();
  std::vector<Role> roles;
  for (const bson::Element element : *list) {
    GM_ASSIGN(Role role, read_role(element.value, std::string(call.request().database)));
    if (std::find(roles.begin(), roles.end(), role) == roles.end()) roles.push_back(role);
  }
  return std::optional(std::move(roles));
}

Result<std::vector<ScramMechanism>> read_mechanisms(Arguments& arguments) {
  GM_ASSIGN(const std::optional<bson::View> list, arguments.array("mechanisms"));
  if (!list) return std::vector{ScramMechanism::kSha1, ScramMechanism::kSha256};
  std::vector<ScramMechanism> mechanisms;
  for (const bson::Element element : *list) {
    const std::optional<ScramMechanism> mechanism = element.value.type() == Type::kString
                                                        ? find_mechanism(element.value.as_string())
                                                        : std::nullopt;
    if (!mechanism) {
      return fail(ErrorCode::kBadValue, "mechanisms: there are 'SCRAM-SHA-1' and 'SCRAM-SHA-256'");
    }
    if (std::find(mechanisms.begin(), mechanisms.end(), *mechanism) == mechanisms.end()) {
      mechanisms.push_back(*mechanism);
    }
  }
  if (mechanisms.empty()) {
    return fail(ErrorCode::kBadValue, "mechanisms field must not be empty");
  }
  return mechanisms;
}

// The password arguments of createUser and updateUser.
struct PasswordChange {
  std::optional<std::string> password;
  std::vector<ScramMechanism> mechanisms;
  bool is_digest = false;  // the password is SCRAM-SHA-1's digest, made by the client
};

Result<PasswordChange> read_password(Arguments& arguments) {
  PasswordChange change;
  GM_ASSIGN(const std::optional<std::string_view> password, arguments.string("pwd"));
  if (password) change.password = *password;
  GM_ASSIGN(const bool digests_here, arguments.boolean("digestPassword", true));
  GM_ASSIGN(const std::optional<std::string_view> digestor, arguments.string("passwordDigestor"));
  if (digestor && *digestor != "server" && *digestor != "client") {
    return fail(ErrorCode::kBadValue, "passwordDigestor must be 'server' or 'client'");
  }
  change.is_digest = !digests_here || digestor == "client";
  GM_ASSIGN(change.mechanisms, read_mechanisms(arguments));
  return change;
}

using Credentials = std::map<ScramMechanism, ScramCredentials>;

// Takes some milliseconds, so this must not be called within a transaction.
Result<Credentials> credentials_of(const UserName& name, const PasswordChange& change) {
  Credentials credentials;
  for (const ScramMechanism mechanism : change.mechanisms) {
    if (!change.is_digest) {
      GM_ASSIGN(credentials[mechanism], make_credentials(mechanism, name.name, *change.password));
    } else if (mechanism == ScramMechanism::kSha1) {
      GM_ASSIGN(credentials[mechanism], credentials_of_digest(*change.password));
    } else {
      return fail(ErrorCode::kBadValue,
                  "Use of SCRAM-SHA-256 requires undigested passwords: mechanisms must be "
                  "['SCRAM-SHA-1'] or digestPassword true");
    }
  }
  return credentials;
}

Status keep_mechanisms(Credentials& credentials, const std::vector<ScramMechanism>& kept) {
  for (const ScramMechanism mechanism : kept) {
    if (!credentials.contains(mechanism)) {
      return fail(ErrorCode::kBadValue,
                  "mechanisms field must be a subset of previously set mechanisms");
    }
  }
  std::erase_if(credentials, [&](const auto& entry) {
    return std::find(kept.begin(), kept.end(), entry.first) == kept.end();
  });
  return {};
}

Status refuse_restrictions(Arguments& arguments) {
  GM_ASSIGN(const std::optional<bson::View> restrictions,
            arguments.array("authenticationRestrictions"));
  if (!restrictions || restrictions->empty()) return {};
  return fail(ErrorCode::kCommandNotSupported, "authenticationRestrictions are not supported");
}

Status check_database(const UserName& name) {
  if (name.database != "local") return {};
  return fail(ErrorCode::kBadValue, "Cannot create users in the local database");
}

Status changed(Call& call, Status status) {
  call.state().access().users_changed();
  if (status) call.state().record_change();
  return status;
}

Status run_create_user(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  User user;
  GM_ASSIGN(user.name, read_user(call));
  GM_TRY(check_database(user.name));
  user.is_external = user.name.database == kExternal;
  GM_ASSIGN(const PasswordChange password, read_password(arguments));
  GM_ASSIGN(const std::optional<std::vector<Role>> roles, read_roles(call));
  GM_ASSIGN(const bson::View custom_data, arguments.document_or_empty("customData"));
  GM_TRY(refuse_restrictions(arguments));
  GM_TRY(arguments.finish());
  if (!roles) return arguments.missing("roles");
  if (password.password.has_value() == user.is_external) {
    return fail(ErrorCode::kBadValue,
                user.is_external
                    ? "Cannot set the password for users defined on the '$external' database"
                    : "Must provide a 'pwd' field for all user documents, except those with "
                      "'$external' as the user's source db");
  }
  GM_ASSIGN(user.uuid, random_uuid());
  user.roles = *roles;
  user.custom_data = bson::Document(custom_data);
  if (!user.is_external) {
    GM_ASSIGN(user.credentials, credentials_of(user.name, password));
  }
  return changed(call, call.state().access().users().create(user));
}

Status run_update_user(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const UserName name, read_user(call));
  const bool mechanisms_given = call.request().body.find("mechanisms").has_value();
  GM_ASSIGN(const PasswordChange password, read_password(arguments));
  GM_ASSIGN(const std::optional<std::vector<Role>> roles, read_roles(call));
  GM_ASSIGN(const std::optional<bson::View> custom_data, arguments.document("customData"));
  GM_TRY(refuse_restrictions(arguments));
  GM_TRY(arguments.finish());
  if (!password.password && !roles && !custom_data && !mechanisms_given) {
    return fail(ErrorCode::kBadValue, "Must specify at least one field to update in updateUser");
  }
  std::optional<Credentials> credentials;
  if (password.password) {
    if (name.database == kExternal) {
      return fail(ErrorCode::kBadValue,
                  "Cannot set the password for users defined on the '$external' database");
    }
    GM_ASSIGN(credentials, credentials_of(name, password));
  }
  const auto apply = [&](User& user) -> Status {
    if (credentials) {
      user.credentials = *credentials;
    } else if (mechanisms_given) {
      GM_TRY(keep_mechanisms(user.credentials, password.mechanisms));
    }
    if (roles) user.roles = *roles;
    if (custom_data) user.custom_data = bson::Document(*custom_data);
    return {};
  };
  return changed(call, call.state().access().users().update(name, apply));
}

Status run_drop_user(Call& call, bson::Builder&) {
  GM_ASSIGN(const UserName name, read_user(call));
  GM_TRY(call.arguments().finish());
  return changed(call, call.state().access().users().drop(name));
}

Status run_drop_all_users(Call& call, bson::Builder& reply) {
  call.arguments().ignore("dropAllUsersFromDatabase");
  GM_TRY(call.arguments().finish());
  GM_ASSIGN(const int64_t dropped, call.state().access().users().drop_all(call.request().database));
  reply.append("n", dropped);
  return changed(call, {});
}

Status change_roles(Call& call, void (*apply)(std::vector<Role>& roles, const Role& role)) {
  GM_ASSIGN(const UserName name, read_user(call));
  GM_ASSIGN(const std::optional<std::vector<Role>> roles, read_roles(call));
  GM_TRY(call.arguments().finish());
  if (!roles) return call.arguments().missing("roles");
  if (roles->empty()) {
    return fail(ErrorCode::kBadValue,
                std::string(call.command().name) + " command requires a non-empty \"roles\" array");
  }
  const auto apply_all = [&](User& user) -> Status {
    for (const Role& role : *roles) apply(user.roles, role);
    return {};
  };
  return changed(call, call.state().access().users().update(name, apply_all));
}

Status run_grant_roles(Call& call, bson::Builder&) {
  return change_roles(call, [](std::vector<Role>& roles, const Role& role) {
    if (std::find(roles.begin(), roles.end(), role) == roles.end()) roles.push_back(role);
  });
}

Status run_revoke_roles(Call& call, bson::Builder&) {
  return change_roles(call,
                      [](std::vector<Role>& roles, const Role& role) { std::erase(roles, role); });
}

// --- the privileges of these commands

std::vector<Privilege> on_database(const Request& request,
                                   std::initializer_list<std::string_view> actions) {
  std::vector<Privilege> privileges;
  for (const std::string_view action : actions) {
    privileges.push_back({Privilege::Resource::kDatabase, action, std::string(request.database)});
  }
  return privileges;
}

// Adds a privilege of `action` for each role: the client needs it on the role's database.
void add_roles(const Request& request, std::string_view action,
               std::vector<Privilege>& privileges) {
  const std::optional<bson::ValueView> roles = request.body.find("roles");
  if (!roles || roles->type() != Type::kArray) return;
  for (const bson::Element element : roles->as_document()) {
    std::string database(request.database);
    if (element.value.type() == Type::kDocument) {
      const std::optional<bson::ValueView> named = element.value.as_document().find("db");
      if (named && named->type() == Type::kString) database = named->as_string();
    }
    privileges.push_back({Privilege::Resource::kDatabase, action, std::move(database)});
  }
}

std::vector<Privilege> to_create(const Request& request) {
  std::vector<Privilege> privileges = on_database(request, {"createUser"});
  add_roles(request, "grantRole", privileges);
  return privileges;
}

std::vector<Privilege> to_update(const Request& request) {
  std::vector<Privilege> privileges;
  if (request.body.find("pwd") || request.body.find("mechanisms")) {
    privileges = on_database(request, {"changePassword"});
  }
  if (request.body.find("customData")) {
    privileges.push_back(
        {Privilege::Resource::kDatabase, "changeCustomData", std::string(request.database)});
  }
  if (request.body.find("roles")) {
    // The user's previous roles are revoked, whatever their databases are.
    privileges.push_back({Privilege::Resource::kAnyDatabase, "revokeRole"});
    add_roles(request, "grantRole", privileges);
  }
  return privileges;
}

std::vector<Privilege> to_grant(const Request& request) {
  std::vector<Privilege> privileges;
  add_roles(request, "grantRole", privileges);
  return privileges;
}

std::vector<Privilege> to_revoke(const Request& request) {
  std::vector<Privilege> privileges;
  add_roles(request, "revokeRole", privileges);
  return privileges;
}

Command of_database(std::string_view name, Status (*run)(Call&, bson::Builder&),
                    std::string_view action, std::string_view about) {
  Command command{.name = name, .run = run};
  command.scope = Command::Scope::kDatabase;
  command.actions = {action};
  command.rules.write_concern = true;
  command.about = about;
  return command;
}

}  // namespace

Commands user_commands() {
  Command create = of_database("createUser", run_create_user, "createUser", "creates a user");
  create.privileges = to_create;
  create.is_secret = true;
  Command update = of_database("updateUser", run_update_user, "changePassword", "changes a user");
  update.privileges = to_update;
  update.is_secret = true;
  Command grant =
      of_database("grantRolesToUser", run_grant_roles, "grantRole", "grants roles to a user");
  grant.privileges = to_grant;
  Command revoke = of_database("revokeRolesFromUser", run_revoke_roles, "revokeRole",
                               "revokes roles from a user");
  revoke.privileges = to_revoke;
  return {create,
          update,
          grant,
          revoke,
          of_database("dropUser", run_drop_user, "dropUser", "removes a user"),
          of_database("dropAllUsersFromDatabase", run_drop_all_users, "dropUser",
                      "removes the users of a database")};
}

}  // namespace gridmount::wire
