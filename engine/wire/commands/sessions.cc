// Sessions: startSession, refreshSessions, endSessions, killSessions, killAllSessions,
// killAllSessionsByPattern. Source: MongoDB manual, "Session Commands".

#include <set>
#include <string>

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

constexpr int32_t kTimeoutMinutes = 30;

Result<std::vector<SessionId>> read_sessions(Arguments& arguments) {
  GM_ASSIGN(const std::vector<bson::View> documents, arguments.documents(arguments.path()));
  std::vector<SessionId> ids;
  for (const bson::View document : documents) {
    GM_ASSIGN(const SessionId id, session_id_of(arguments.path(), document));
    ids.push_back(id);
  }
  GM_TRY(arguments.finish());
  return ids;
}

Status run_start_session(Call& call, bson::Builder& reply) {
  call.arguments().ignore("startSession");
  GM_TRY(call.arguments().finish());
  const SessionId id = SessionTable::generate();
  call.touch_session(id);
  reply.open_document("id").append("id", binary_of(id)).close();
  reply.append("timeoutMinutes", kTimeoutMinutes);
  return {};
}

Status run_refresh_sessions(Call& call, bson::Builder&) {
  GM_ASSIGN(const std::vector<SessionId> ids, read_sessions(call.arguments()));
  for (const SessionId& id : ids) call.touch_session(id);
  return {};
}

void end(Call& call, const SessionId& id) {
  call.state().sessions().end(id);
  call.state().end_work_of(id, &call.operation());
}

// An unknown session may still have cursors, if its entry was removed before. Sessions of other
// users are left alone. A client that must still log in ends none.
Status run_end_sessions(Call& call, bson::Builder&) {
  GM_ASSIGN(const std::vector<SessionId> ids, read_sessions(call.arguments()));
  const AccessControl& access = call.state().access();
  if (!access.may_have_sessions(call.client())) return {};
  const std::string owner = access.account(call.client());
  for (const SessionId& id : ids) {
    if (!call.state().sessions().is_of_another(id, owner)) end(call, id);
  }
  return {};
}

void end_all(Call& call) {
  std::set<SessionId> ids;
  for (const SessionId& id : call.state().sessions().end_all()) ids.insert(id);
  for (const cursors::CursorInfo& info : call.state().cursors().list()) {
    const auto& cursor = static_cast<const ClientCursor&>(*info.options.note);
    if (cursor.session) ids.insert(*cursor.session);
  }
  for (const SessionId& id : ids) call.state().end_work_of(id, &call.operation());
}

Status run_kill_sessions(Call& call, bson::Builder&) {
  GM_ASSIGN(const std::vector<SessionId> ids, read_sessions(call.arguments()));
  if (ids.empty()) end_all(call);
  for (const SessionId& id : ids) end(call, id);
  return {};
}

// Ends the sessions of all users, even if the command names some: {user, db} is only validated.
Status run_kill_all_sessions(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::vector<bson::View> users, arguments.documents(arguments.path()));
  GM_TRY(arguments.finish());
  for (const bson::View user : users) {
    GM_ASSIGN(Arguments fields, Arguments::of("killAllSessions", user));
    GM_TRY(fields.required_string("user"));
    GM_TRY(fields.required_string("db"));
    GM_TRY(fields.finish());
  }
  end_all(call);
  return {};
}

Status run_kill_by_pattern(Call& call, bson::Builder&) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::vector<bson::View> patterns, arguments.documents(arguments.path()));
  GM_TRY(arguments.finish());
  bool all = patterns.empty();
  std::vector<SessionId> ids;
  for (const bson::View pattern : patterns) {
    GM_ASSIGN(Arguments fields, Arguments::of("killAllSessionsByPattern", pattern));
    GM_ASSIGN(const std::optional<bson::View> lsid, fields.document("lsid"));
    fields.ignore("uid");
    fields.ignore("users");
    fields.ignore("roles");
    GM_TRY(fields.finish());
    if (!lsid) {
      all = true;
      continue;
    }
    GM_ASSIGN(const SessionId id, session_id_of("killAllSessionsByPattern.lsid", *lsid));
    ids.push_back(id);
  }
  if (all) end_all(call);
  for (const SessionId& id : ids) end(call, id);
  return {};
}

Command killing(std::string_view name, Status (*run)(Call&, bson::Builder&)) {
  Command command{.name = name, .run = run};
  command.scope = Command::Scope::kCluster;
  command.actions = {"killAnySession"};
  command.about = "ends sessions, with their cursors and operations";
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
  end_them.before_login = true;
  end_them.about = "ends sessions";
  refresh.rules.in_api_version_1 = true;
  return {start,
          refresh,
          end_them,
          killing("killSessions", run_kill_sessions),
          killing("killAllSessions", run_kill_all_sessions),
          killing("killAllSessionsByPattern", run_kill_by_pattern)};
}

}  // namespace gridmount::wire
