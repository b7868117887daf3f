// compact. Source: MongoDB manual, "compact".

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"

namespace gridmount::wire {
namespace {

Status run_compact(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_TRY(arguments.boolean("force"));
  GM_TRY(arguments.finish());
  call.set_ns(ns);
  GM_ASSIGN(const int64_t freed, call.store().compact(ns, call.deadline()));
  reply.append("bytesFreed", freed);
  return {};
}

}  // namespace

Commands compact_commands() {
  return {collection_command("compact", run_compact, "compact",
                             "returns free space to the file system")};
}

}  // namespace gridmount::wire
