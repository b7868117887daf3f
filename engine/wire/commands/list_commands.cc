// listCommands. Source: MongoDB manual, "listCommands".

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

Status run_list_commands(Call& call, bson::Builder& reply) {
  call.arguments().ignore(call.arguments().path());
  GM_TRY(call.arguments().finish());
  reply.open_document("commands");
  for (const Command& command : all_commands()) {
    reply.open_document(command.name).append("help", command.about);
    reply.append("requiresAuth", !command.before_login).append("secondaryOk", true);
    reply.append("adminOnly", command.admin_only).open_array("apiVersions");
    if (command.rules.in_api_version_1) reply.push(bson::Value("1").view());
    reply.close().open_array("deprecatedApiVersions").close().close();
  }
  reply.close();
  return {};
}

}  // namespace

Commands list_commands_commands() {
  Command list{.name = "listCommands", .run = run_list_commands};
  list.scope = Command::Scope::kCluster;
  list.before_login = true;
  list.about = "lists the commands";
  return {list};
}

}  // namespace gridmount::wire
