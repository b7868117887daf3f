// Commands with which clients probe a server, and the answers of a standalone server, which is not
// a member of a replica set or cluster.

#include <string>

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

constexpr ErrorCode kNoReplicationEnabled{76};
constexpr ErrorCode kNotOnStandalone{51300};

// Ignores the remaining arguments, because they do not change the reply.
void ignore_all(Call& call) {
  static_cast<void>(call.arguments().rest());
}

Status read_name_only(Call& call) {
  call.arguments().ignore(call.arguments().path());
  return call.arguments().finish();
}

Status no_replication(Call& call, bson::Builder&) {
  ignore_all(call);
  return fail(kNoReplicationEnabled, "not running with --replSet");
}

Status no_default_concerns(Call& call, bson::Builder&) {
  ignore_all(call);
  return fail(kNotOnStandalone,
              "'" + std::string(call.command().name) + "' is not supported on standalone nodes.");
}

// The test programs of drivers turn fail points off before they begin. This server has none to turn
// on.
Status run_configure_fail_point(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_TRY(arguments.required_string("configureFailPoint"));
  const std::optional<bson::ValueView> mode = arguments.any("mode");
  ignore_all(call);
  if (mode && mode->type() == bson::Type::kString && mode->as_string() == "off") {
    reply.append("count", int64_t{0});
    return {};
  }
  return fail(ErrorCode::kCommandNotSupported,
              "configureFailPoint: there are no fail points, so the only mode is \"off\"");
}

Status run_features(Call& call, bson::Builder& reply) {
  call.arguments().ignore("oidReset");
  GM_TRY(read_name_only(call));
  reply.open_document("js").append("utf8", true).close();
  return {};
}

Status run_connection_pools(Call& call, bson::Builder& reply) {
  GM_TRY(read_name_only(call));
  for (const char* const name : {"numClientConnections", "numAScopedConnections", "totalInUse",
                                 "totalAvailable", "totalCreated", "totalRefreshing"}) {
    reply.append(name, int32_t{0});
  }
  reply.open_document("pools").close().open_document("hosts").close();
  return {};
}

Status run_lock_info(Call& call, bson::Builder& reply) {
  GM_TRY(read_name_only(call));
  reply.open_array("lockInfo").close();
  return {};
}

Status run_sharding_state(Call& call, bson::Builder& reply) {
  GM_TRY(read_name_only(call));
  reply.append("enabled", false);
  return {};
}

Command of_server(std::string_view name, Status (*run)(Call&, bson::Builder&),
                  std::vector<std::string_view> actions, std::string_view about) {
  Command command{.name = name, .run = run};
  command.scope = Command::Scope::kCluster;
  command.actions = std::move(actions);
  command.about = about;
  return command;
}

Command admin(Command command) {
  command.admin_only = true;
  return command;
}

}  // namespace

Commands probe_commands() {
  constexpr std::string_view kReplicaSets =
      "concerns replica sets; this server is not a member of one";
  return {
      admin(of_server("replSetGetStatus", no_replication, {"replSetGetStatus"}, kReplicaSets)),
      admin(of_server("replSetGetConfig", no_replication, {"replSetGetConfig"}, kReplicaSets)),
      admin(of_server("replSetInitiate", no_replication, {"replSetConfigure"}, kReplicaSets)),
      admin(of_server("replSetStepDown", no_replication, {"replSetStateChange"}, kReplicaSets)),
      admin(of_server("getDefaultRWConcern", no_default_concerns, {"getDefaultRWConcern"},
                      kReplicaSets)),
      admin(of_server("setDefaultRWConcern", no_default_concerns, {"setDefaultRWConcern"},
                      kReplicaSets)),
      admin(of_server("configureFailPoint", run_configure_fail_point, {"configureFailPoint"},
                      "turns fail points off; there are none")),
      of_server("features", run_features, {}, "lists the features of the server"),
      of_server("connPoolStats", run_connection_pools, {"connPoolStats"},
                "shows connections to other servers; there are none"),
      admin(of_server("lockInfo", run_lock_info, {"serverStatus"}, "lists locks")),
      admin(of_server("shardingState", run_sharding_state, {"shardingState"},
                      "reports that there are no shards")),
  };
}

}  // namespace gridmount::wire
