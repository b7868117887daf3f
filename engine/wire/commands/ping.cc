// ping. Source: MongoDB manual, "ping".

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

Status run_ping(Call& call, bson::Builder&) {
  call.arguments().ignore("ping");
  return call.arguments().finish();
}

}  // namespace

Commands ping_commands() {
  Command ping{.name = "ping", .run = run_ping};
  ping.rules = {.in_api_version_1 = true};
  ping.before_login = true;
  ping.about = "does nothing";
  return {ping};
}

}  // namespace gridmount::wire
