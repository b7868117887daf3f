// Running and past operations: currentOp, killOp, profile, top, getLastError.
// Source: MongoDB manual, "currentOp", "killOp", "profile", "top".

#include <string>

#include "engine/bson/number.h"
#include "engine/query/filter/filter.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/current_operations.h"

namespace gridmount::wire {
namespace {

// Runs {currentOp: 1, $all: true, $ownOps: true, ...}. The further fields are those of a filter.
Status run_current_op(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  arguments.ignore(arguments.path());
  GM_ASSIGN(const bool all, arguments.boolean("$all"));
  GM_ASSIGN(const bool own, arguments.boolean("$ownOps"));
  bson::Builder conditions;
  for (const bson::Element field : arguments.rest()) conditions.append(field.key, field.value);
  const bson::Document specification = std::move(conditions).finish();
  GM_ASSIGN(const query::Filter filter, query::Filter::parse(specification));
  bson::Builder options;
  options.append("truncateOps", true);
  if (all) options.append("idleCursors", true);
  GM_ASSIGN(const std::vector<bson::Document> operations,
            current_operations(call, std::move(options).finish()));
  reply.open_array("inprog");
  for (const bson::Document& operation : operations) {
    const std::optional<bson::ValueView> connection = operation.find("connectionId");
    if (own && (!connection || connection->integral() != call.client().id())) continue;
    if (filter.matches(operation)) reply.push(operation.view());
  }
  reply.close();
  return {};
}

Status run_kill_op(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  arguments.ignore("killOp");
  GM_ASSIGN(const bson::ValueView op, arguments.required("op"));
  if (!op.is_number()) {
    return fail(ErrorCode::kTypeMismatch, "Expected field \"op\" to have numeric type, but found " +
                                              std::string(type_name(op)));
  }
  GM_TRY(arguments.finish());
  const std::optional<int64_t> id = bson::clamped_integer(op);
  call.state().operations().kill_if([&](const Operation& operation) { return operation.id == id; },
                                    ErrorCode::kInterrupted);
  // As on servers, killing an operation that has already ended succeeds.
  reply.append("info", "attempting to kill op");
  return {};
}

// Reads the profiler's filter. Returns nothing if none is given, and null for "unset".
Result<std::optional<std::shared_ptr<const profiling::OperationFilter>>> read_profile_filter(
    Arguments& arguments) {
  using Filter = std::shared_ptr<const profiling::OperationFilter>;
  if (!arguments.has("filter")) return std::optional<Filter>();
  const std::optional<bson::ValueView> given = arguments.any("filter");
  if (given && given->type() == bson::Type::kDocument) {
    GM_ASSIGN(profiling::OperationFilter filter,
              profiling::OperationFilter::parse(given->as_document()));
    return std::optional<Filter>(
        std::make_shared<const profiling::OperationFilter>(std::move(filter)));
  }
  if (given && given->type() == bson::Type::kString && given->as_string() == "unset") {
    return std::optional<Filter>(nullptr);
  }
  return fail(ErrorCode::kBadValue, "Expected an object, or the string 'unset', as 'filter'");
}

// Runs {profile: level, slowms, sampleRate, filter}. A level of -1 leaves the level unchanged.
// slowms and sampleRate apply to all databases.
Status run_profile(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const std::string database, arguments.database());
  GM_ASSIGN(const std::optional<int64_t> level, arguments.integer("profile"));
  if (!level) return arguments.missing("profile");
  GM_ASSIGN(const std::optional<int64_t> slow, arguments.integer("slowms"));
  const std::optional<bson::ValueView> rate = arguments.any("sampleRate");
  if (rate && !rate->is_number()) {
    return arguments.wrong_type("sampleRate", *rate, "types '[long, int, decimal, double']");
  }
  GM_ASSIGN(const auto filter, read_profile_filter(arguments));
  GM_TRY(arguments.finish());
  Service::State& state = call.state();
  profiling::Settings settings = state.profiler().settings(database);
  settings.slow = std::chrono::milliseconds(state.slow_microseconds.load() / 1000);
  settings.sample_rate = state.sample_rate.load();
  reply.append("was", static_cast<int32_t>(settings.level));
  reply.append("slowms", static_cast<int32_t>(settings.slow.count()));
  reply.append("sampleRate", settings.sample_rate);
  if (settings.filter) {
    reply.append("filter", settings.filter->shown());
    reply.append(
        "note",
        "When a filter expression is set, slowms and sampleRate are not used for profiling "
        "and slow-query log lines.");
  }
  if (*level < -1 || *level > 2) {
    return fail(ErrorCode::kBadValue, "Profiling level has to be >=0 and <=2");
  }
  const bool asks_alone = *level == -1 && !slow && !rate && !filter;
  if (asks_alone) return {};
  if (*level >= 0) settings.level = static_cast<int>(*level);
  // As on servers, `slowms` has 32 bits: 2^31 makes every operation slow.
  if (slow) settings.slow = std::chrono::milliseconds(static_cast<int32_t>(*slow));
  if (rate) settings.sample_rate = *rate->number();
  if (filter) settings.filter = *filter;
  GM_TRY(state.profiler().set(database, settings));
  state.slow_microseconds = std::chrono::microseconds(settings.slow).count();
  state.sample_rate = settings.sample_rate;
  return {};
}

std::vector<Privilege> profile_privileges(const Request& request) {
  const bson::ValueView level = (*request.body.begin()).value;
  const bool asks_alone = level.is_number() && level.number() == -1 &&
                          !request.body.find("slowms") && !request.body.find("sampleRate") &&
                          !request.body.find("filter");
  if (asks_alone) {
    return {{Privilege::Resource::kCollection, "find", std::string(request.database),
             "system.profile"}};
  }
  return {{Privilege::Resource::kDatabase, "enableProfiler", std::string(request.database)}};
}

Status run_top(Call& call, bson::Builder& reply) {
  call.arguments().ignore("top");
  GM_TRY(call.arguments().finish());
  reply.open_document("totals").append("note", "all times in microseconds");
  call.state().counters().append_times(reply);
  reply.close();
  return {};
}

Status run_get_last_error(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  for (const char* const name : {"getLastError", "getlasterror", "w", "j", "fsync", "wtimeout"}) {
    arguments.ignore(name);
  }
  GM_TRY(arguments.finish());
  reply.append("connectionId", call.client().id());
  const bson::View last = call.client().last_write();
  if (last.empty()) {
    reply.append("n", int32_t{0}).append_null("err");
  } else {
    reply.append_all(last);
  }
  return {};
}

}  // namespace

Commands operation_commands() {
  Command current_op{.name = "currentOp", .run = run_current_op};
  current_op.scope = Command::Scope::kCluster;
  current_op.actions = {"inprog"};
  current_op.admin_only = true;
  current_op.about = "lists what runs";

  Command kill_op{.name = "killOp", .run = run_kill_op};
  kill_op.scope = Command::Scope::kCluster;
  kill_op.actions = {"killop"};
  kill_op.admin_only = true;
  kill_op.about = "ends an operation";

  Command profile{.name = "profile", .run = run_profile};
  profile.privileges = profile_privileges;
  profile.about = "sets which operations are recorded in system.profile";

  Command top{.name = "top", .run = run_top};
  top.scope = Command::Scope::kCluster;
  top.actions = {"top"};
  top.admin_only = true;
  top.about = "shows the operations on each collection";

  Command last{.name = "getLastError", .other_names = {"getlasterror"}, .run = run_get_last_error};
  last.about = "shows the result of this connection's last write command";
  return {current_op, kill_op, profile, top, last};
}

}  // namespace gridmount::wire
