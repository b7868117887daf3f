// distinct. Source: MongoDB manual, "distinct" (database command).

#include "engine/wire/commands/distinct.h"

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/read_arguments.h"

namespace gridmount::wire {
namespace {

Status run_distinct(Call& call, bson::Builder& reply) {
  GM_ASSIGN(DistinctCommand distinct, DistinctCommand::read(call.arguments()));
  GM_TRY(call.arguments().finish());
  call.set_ns(distinct.ns);
  distinct.options.deadline = call.deadline();
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  GM_ASSIGN(const std::vector<bson::Value> values,
            call.store()
                .database(distinct.ns.database)
                ->collection(distinct.ns.collection)
                ->distinct(*snapshot, distinct.key, distinct.query, distinct.options));
  reply.open_array("values");
  for (const bson::Value& value : values) reply.push(value.view());
  reply.close();
  return {};
}

}  // namespace

Result<DistinctCommand> DistinctCommand::read(Arguments& arguments) {
  DistinctCommand distinct;
  GM_ASSIGN(distinct.ns, arguments.collection());
  GM_ASSIGN(distinct.key, arguments.required_string("key"));
  GM_ASSIGN(distinct.query, arguments.document_or_empty("query"));
  GM_ASSIGN(distinct.options.hint, read_hint(arguments));
  GM_ASSIGN(distinct.options.collation, read_collation(arguments));
  return distinct;
}

Commands distinct_commands() {
  Command distinct{.name = "distinct", .run = run_distinct};
  distinct.scope = Command::Scope::kCollection;
  distinct.actions = {"find"};
  distinct.rules = {.read_concern = true};
  distinct.about = "returns the distinct values of a field";
  return {distinct};
}

}  // namespace gridmount::wire
