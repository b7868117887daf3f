// count. Source: MongoDB manual, "count" (database command).

#include "engine/wire/commands/count.h"

#include <limits>

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/read_arguments.h"

namespace gridmount::wire {
namespace {

Status run_count(Call& call, bson::Builder& reply) {
  GM_ASSIGN(CountCommand count, CountCommand::read(call.arguments()));
  GM_TRY(call.arguments().finish());
  call.set_ns(count.ns);
  count.options.deadline = call.deadline();
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  GM_ASSIGN(const int64_t counted, call.store()
                                       .database(count.ns.database)
                                       ->collection(count.ns.collection)
                                       ->count(*snapshot, count.query, count.options));
  // As on servers, n is an int32 if it fits.
  if (counted <= std::numeric_limits<int32_t>::max()) {
    reply.append("n", static_cast<int32_t>(counted));
  } else {
    reply.append("n", counted);
  }
  return {};
}

}  // namespace

Result<CountCommand> CountCommand::read(Arguments& arguments) {
  CountCommand count;
  GM_ASSIGN(count.ns, arguments.collection());
  GM_ASSIGN(count.query, arguments.document_or_empty("query"));
  // `limit` is the only numeric field that must not be null.
  const bool has_limit = arguments.has("limit");
  GM_ASSIGN(const std::optional<int64_t> limit, arguments.integer("limit"));
  if (has_limit && !limit) {
    return fail(ErrorCode::kBadValue, "limit value is not a valid number");
  }
  GM_ASSIGN(const std::optional<int64_t> skip, arguments.integer_from("skip", 0));
  // A negative limit has the effect of the positive limit. In early versions of MongoDB, it also
  // requested a single batch.
  count.options.limit = limit.value_or(0);
  if (count.options.limit < 0) {
    count.options.limit = count.options.limit == std::numeric_limits<int64_t>::min()
                              ? std::numeric_limits<int64_t>::max()
                              : -count.options.limit;
  }
  count.options.skip = skip.value_or(0);
  GM_ASSIGN(count.options.hint, read_hint(arguments));
  GM_ASSIGN(count.options.collation, read_collation(arguments));
  arguments.ignore("fields");  // sent by old shells; has no effect on a count
  return count;
}

Commands count_commands() {
  Command count{.name = "count", .run = run_count};
  count.scope = Command::Scope::kCollection;
  count.actions = {"find"};
  count.rules = {.read_concern = true, .in_api_version_1 = true};
  count.about = "counts the documents of a collection that match a filter";
  return {count};
}

}  // namespace gridmount::wire
