// Sessions: startSession, refreshSessions, endSessions, killSessions, killAllSessions,
// killAllSessionsByPattern. Source: MongoDB manual, "Session Commands".

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/wire/auth/access_control.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/privilege_check.h"

namespace gridmount::wire {
namespace {

constexpr int32_t kTimeoutMinutes = 30;

Status run_start_session(Call& call, bson::Builder& reply) {
  call.arguments().ignore("startSession");
  GM_TRY(call.arguments().finish());
  GM_ASSIGN(const SessionId id, SessionTable::generate());
  call.touch_session(id);
  reply.open_document("id").append("id", binary_of(id)).close();
  reply.append("timeoutMinutes", kTimeoutMinutes);
  return {};
}

// Reads `uid`, the digest of the session's user. Returns nothing if it is missing.
Result<std::optional<UserDigest>> read_user_digest(Arguments& fields) {
  const std::optional<bson::ValueView> value = fields.any("uid");
  if (!value) return std::optional<UserDigest>();
  constexpr uint8_t kGeneric = 0;
  if (value->type() != bson::Type::kBinary || value->as_binary().subtype != kGeneric) {
    return fields.wrong_type("uid", *value, "type 'binData'");
  }
  const bson::Binary bytes = value->as_binary();
  UserDigest user{};
  if (bytes.size != user.size()) {
    return fail(ErrorCode::kUnsupportedFormat,
                "Unsupported SHA256Block hash length: " + std::to_string(bytes.size));
  }
  std::copy_n(bytes.data, user.size(), user.begin());
  return std::optional(user);
}

// Reads {id: UUID, uid: digest}.
Result<SessionPattern> read_session_pattern(std::string_view path, bson::View document) {
  SessionPattern session;
  GM_ASSIGN(session.id, session_id_of(path, document));
  GM_ASSIGN(Arguments fields, Arguments::of(path, document));
  GM_ASSIGN(session.user, read_user_digest(fields));
  return session;
}

// Reads the command's sessions, each with its user. If the command names no user, it is the
// client's own. To name another user, the client needs the privilege of `action` on the cluster.
Result<std::vector<SessionPattern>> read_sessions(Call& call, std::string_view action) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::vector<bson::View> documents, arguments.documents(arguments.path()));
  GM_TRY(arguments.finish());
  const UserDigest own = call.state().access().session_owner(call.client()).user;
  std::vector<SessionPattern> sessions;
  for (const bson::View document : documents) {
    GM_ASSIGN(SessionPattern session, read_session_pattern(arguments.path(), document));
    if (!session.user) session.user = own;
    if (session.user != own && !check_privilege(call, {Privilege::Resource::kCluster, action})) {
      return fail(ErrorCode::kUnauthorized, "Unauthorized to set user digest in LogicalSessionId");
    }
    sessions.push_back(session);
  }
  return sessions;
}

// A session of another user is not added to the table: this client does not belong to its account.
Status run_refresh_sessions(Call& call, bson::Builder&) {
  GM_ASSIGN(const std::vector<SessionPattern> sessions, read_sessions(call, "impersonate"));
  const UserDigest own = call.state().access().session_owner(call.client()).user;
  for (const SessionPattern& session : sessions) {
    if (*session.user == own) {
      call.touch_session(*session.id);
    } else {
      call.state().sessions().refresh(*session.id, *session.user, call.operation().begin);
    }
  }
  return {};
}

void end(Call& call, const SessionPattern& sessions) {
  call.state().sessions().end(sessions);
  // A session that is not in the table may still have cursors, because the table may have removed
  // the session before.
  call.state().end_work_of(sessions, &call.operation());
}

// Does not end sessions of other accounts. The user digest alone does not distinguish accounts,
// because all clients without a log-in have the same digest.
Status run_end_sessions(Call& call, bson::Builder&) {
  GM_ASSIGN(const std::vector<SessionPattern> sessions, read_sessions(call, "impersonate"));
  const SessionOwner owner = call.state().access().session_owner(call.client());
  for (const SessionPattern& session : sessions) {
    if (!call.state().sessions().is_of_another(*session.id, owner)) end(call, session);
  }
  return {};
}

// Ends the sessions that the command names, or all sessions of the client's own user if the command
// names none. Sessions of another user need the privilege killAnySession.
Status run_kill_sessions(Call& call, bson::Builder&) {
  GM_ASSIGN(std::vector<SessionPattern> sessions, read_sessions(call, "killAnySession"));
  if (sessions.empty()) {
    sessions.push_back({.user = call.state().access().session_owner(call.client()).user});
  }
  for (const SessionPattern& session : sessions) end(call, session);
  return {};
}

void end_matching(Call& call, const std::vector<SessionPattern>& patterns) {
  if (patterns.empty()) end(call, {});
  for (const SessionPattern& pattern : patterns) end(call, pattern);
}

Status run_kill_all_sessions(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::vector<bson::View> users, arguments.documents(arguments.path()));
  GM_TRY(arguments.finish());
  std::vector<SessionPattern> patterns;
  for (const bson::View user : users) {
    GM_ASSIGN(Arguments fields, Arguments::of("killAllSessions", user));
    GM_ASSIGN(const std::string_view name, fields.required_string("user"));
    GM_ASSIGN(const std::string_view database, fields.required_string("db"));
    GM_TRY(fields.finish());
    const UserName named{std::string(name), std::string(database)};
    GM_ASSIGN(const std::optional<User> found, call.state().access().users().find(named));
    if (!found) {
      return fail(kUserNotFound,
                  "Could not find user \"" + named.name + "\" for db \"" + named.database + "\"");
    }
    GM_ASSIGN(const UserDigest digest, digest_of_user(account_of(named)));
    patterns.push_back({.user = digest});
  }
  end_matching(call, patterns);
  return {};
}

// Checks an array of {user, db} or {role, db}. Returns false if the array is missing.
Result<bool> read_names(Arguments& fields, const char* array, const char* name) {
  if (!fields.has(array)) return false;
  GM_ASSIGN(const std::vector<bson::View> documents, fields.documents(array));
  const std::string path = std::string(fields.path()) + "." + array;
  for (const bson::View document : documents) {
    GM_ASSIGN(Arguments of_name, Arguments::of(path, document));
    GM_TRY(of_name.required_string(name));
    GM_TRY(of_name.required_string("db"));
    GM_TRY(of_name.finish());
  }
  return true;
}

// As on servers, `uid` takes precedence over `lsid`. `users` and `roles` select no sessions: a
// server acts in the name of these users and roles.
Result<SessionPattern> read_pattern(Call& call, bson::View pattern) {
  GM_ASSIGN(Arguments fields, Arguments::of("killAllSessionsByPattern", pattern));
  GM_ASSIGN(const std::optional<bson::View> lsid, fields.document("lsid"));
  GM_ASSIGN(const std::optional<UserDigest> user, read_user_digest(fields));
  GM_ASSIGN(const bool has_users, read_names(fields, "users", "user"));
  GM_ASSIGN(const bool has_roles, read_names(fields, "roles", "role"));
  GM_TRY(fields.finish());
  SessionPattern session;
  if (lsid) {
    constexpr std::string_view kPath = "killAllSessionsByPattern.lsid";
    GM_ASSIGN(session, read_session_pattern(kPath, *lsid));
    if (!session.user) return Arguments::of(kPath, *lsid)->missing("uid");
  }
  if ((has_users || has_roles) &&
      !check_privilege(call, {Privilege::Resource::kCluster, "impersonate"})) {
    return fail(ErrorCode::kUnauthorized,
                "Not authorized to impersonate in killAllSessionsByPattern");
  }
  if (user) return SessionPattern{.user = user};
  return session;
}

Status run_kill_by_pattern(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::vector<bson::View> documents, arguments.documents(arguments.path()));
  GM_TRY(arguments.finish());
  std::vector<SessionPattern> patterns;
  for (const bson::View document : documents) {
    GM_ASSIGN(const SessionPattern pattern, read_pattern(call, document));
    patterns.push_back(pattern);
  }
  end_matching(call, patterns);
  return {};
}

Command killing(std::string_view name, Status (*run)(Call&, bson::Builder&)) {
  Command command{.name = name, .run = run};
  command.scope = Command::Scope::kCluster;
  command.actions = {"killAnySession"};
  command.about = "ends sessions of all users, with their cursors and operations";
  return command;
}

}  // namespace

Commands session_commands() {
  Command start{.name = "startSession", .run = run_start_session};
  start.about = "starts a session";
  Command refresh{.name = "refreshSessions", .run = run_refresh_sessions};
  refresh.about = "keeps sessions from ending";
  Command end_them{.name = "endSessions", .run = run_end_sessions};
  end_them.rules.in_api_version_1 = true;
  end_them.about = "ends sessions";
  refresh.rules.in_api_version_1 = true;
  Command kill{.name = "killSessions", .run = run_kill_sessions};
  kill.about = "ends sessions of the client's user, with their cursors and operations";
  return {start,
          refresh,
          end_them,
          kill,
          killing("killAllSessions", run_kill_all_sessions),
          killing("killAllSessionsByPattern", run_kill_by_pattern)};
}

}  // namespace gridmount::wire
