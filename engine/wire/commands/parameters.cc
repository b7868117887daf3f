// Settings of the server: getParameter, setParameter, getCmdLineOpts, getLog, logRotate.
// Source: MongoDB manual, "getParameter", "setParameter", "MongoDB Server Parameters".

#include <string>

#include "engine/bson/count.h"
#include "engine/bson/number.h"
#include "engine/wire/auth/user.h"
#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/version_document.h"

namespace gridmount::wire {
namespace {

using bson::Type;

struct Parameter {
  std::string_view name;
  void (*append)(Service::State& state, std::string_view name, bson::Builder& out);
  // Null for parameters that cannot be changed.
  Status (*set)(Service::State& state, bson::ValueView value) = nullptr;
};

Status set_log_level(Service::State& state, bson::ValueView value) {
  const std::optional<int64_t> level = bson::clamped_integer(value);
  if (!level || *level < 0 || *level > 5) {
    return fail(ErrorCode::kBadValue,
                "Invalid value for parameter logLevel: it is a number from 0 to 5");
  }
  state.log_level = static_cast<int32_t>(*level);
  return {};
}

Status set_quiet(Service::State& state, bson::ValueView value) {
  if (value.type() != Type::kBool && !value.is_number()) {
    return fail(ErrorCode::kTypeMismatch, "Invalid value for parameter quiet: it is a boolean");
  }
  state.quiet = value.type() == Type::kBool ? value.as_bool() : value.number().value_or(0) != 0;
  return {};
}

const Parameter kParameters[] = {
    {"authSchemaVersion", [](Service::State&, std::string_view name,
                             bson::Builder& out) { out.append(name, kUserSchemaVersion); }},
    {"authenticationMechanisms",
     [](Service::State&, std::string_view name, bson::Builder& out) {
       out.open_array(name);
       for (const char* const mechanism : {"SCRAM-SHA-1", "SCRAM-SHA-256"}) {
         out.push(bson::Value(mechanism).view());
       }
       out.close();
     }},
    {"cursorTimeoutMillis",
     [](Service::State& state, std::string_view name, bson::Builder& out) {
       out.append(name, static_cast<int64_t>(state.options().cursor_idle_max.count()));
     }},
    {"enableTestCommands",
     [](Service::State&, std::string_view name, bson::Builder& out) { out.append(name, false); }},
    {"featureCompatibilityVersion",
     [](Service::State&, std::string_view name, bson::Builder& out) {
       out.open_document(name).append("version", kFeatureVersion).close();
     }},
    {"internalQueryMaxBlockingSortMemoryUsageBytes",
     [](Service::State& state, std::string_view name, bson::Builder& out) {
       bson::append_count(out, name, static_cast<int64_t>(state.options().operation_bytes_max));
     }},
    {"localLogicalSessionTimeoutMinutes",
     [](Service::State& state, std::string_view name, bson::Builder& out) {
       out.append(name, static_cast<int32_t>(state.options().session_idle_max.count()));
     }},
    {"logLevel",
     [](Service::State& state, std::string_view name, bson::Builder& out) {
       out.append(name, state.log_level.load());
     },
     set_log_level},
    {"maxSessions",
     [](Service::State& state, std::string_view name, bson::Builder& out) {
       out.append(name, static_cast<int64_t>(state.options().sessions_max));
     }},
    {"quiet",
     [](Service::State& state, std::string_view name, bson::Builder& out) {
       out.append(name, state.quiet.load());
     },
     set_quiet},
    {"requireApiVersion",
     [](Service::State&, std::string_view name, bson::Builder& out) { out.append(name, false); }},
    {"transactionLifetimeLimitSeconds", [](Service::State&, std::string_view name,
                                           bson::Builder& out) { out.append(name, int32_t{60}); }},
    {"ttlMonitorEnabled", [](Service::State& state, std::string_view name,
                             bson::Builder& out) { out.append(name, !state.store().read_only()); }},
};

const Parameter* find_parameter(std::string_view name) {
  for (const Parameter& parameter : kParameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

void append(Call& call, const Parameter& parameter, bool details, bson::Builder& reply) {
  if (!details) return parameter.append(call.state(), parameter.name, reply);
  reply.open_document(parameter.name);
  parameter.append(call.state(), "value", reply);
  reply.append("settableAtRuntime", parameter.set != nullptr);
  reply.append("settableAtStartup", false).close();
}

Status run_get_parameter(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const bson::ValueView which, arguments.required("getParameter"));
  bool all = which.type() == Type::kString && which.as_string() == "*";
  bool details = false;
  if (which.type() == Type::kDocument) {
    GM_ASSIGN(Arguments options, Arguments::of("getParameter", which.as_document()));
    GM_ASSIGN(details, options.boolean("showDetails"));
    GM_ASSIGN(all, options.boolean("allParameters"));
    options.ignore("setAt");
    GM_TRY(options.finish());
  }
  GM_ASSIGN(const bool all_of_them, arguments.boolean("allParameters"));
  all = all || all_of_them;
  const std::vector<bson::Element> names = arguments.rest();
  size_t found = 0;
  for (const Parameter& parameter : kParameters) {
    bool wanted = all;
    for (const bson::Element name : names) wanted = wanted || name.key == parameter.name;
    if (!wanted) continue;
    append(call, parameter, details, reply);
    ++found;
  }
  if (found == 0) return fail(ErrorCode::kInvalidOptions, "no option found to get");
  return {};
}

Status run_set_parameter(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  arguments.ignore("setParameter");
  const std::vector<bson::Element> wishes = arguments.rest();
  if (wishes.empty()) return fail(ErrorCode::kInvalidOptions, "no option found to set");
  for (const bson::Element wish : wishes) {
    const Parameter* const parameter = find_parameter(wish.key);
    if (parameter == nullptr) {
      return fail(ErrorCode::kInvalidOptions, "attempted to set unrecognized parameter [" +
                                                  std::string(wish.key) +
                                                  "], use help:true to see options ");
    }
    if (parameter->set == nullptr) {
      return fail(ErrorCode::kIllegalOperation,
                  "not allowed to change [" + std::string(wish.key) + "] at runtime");
    }
    bson::Builder was;
    parameter->append(call.state(), "was", was);
    GM_TRY(parameter->set(call.state(), wish.value));
    const bson::Document before = std::move(was).finish();
    if (wishes.size() == 1) reply.append_all(before);
  }
  return {};
}

Status run_get_command_line(Call& call, bson::Builder& reply) {
  call.arguments().ignore("getCmdLineOpts");
  GM_TRY(call.arguments().finish());
  reply.open_array("argv");
  for (const std::string& argument : call.state().options().arguments) {
    reply.push(bson::Value(argument).view());
  }
  reply.close();
  reply.open_document("parsed").close();
  return {};
}

Status run_get_log(Call& call, bson::Builder& reply) {
  GM_ASSIGN(const std::string_view which, call.arguments().required_string("getLog"));
  GM_TRY(call.arguments().finish());
  if (which == "*") {
    reply.open_array("names");
    for (const char* const name : {"global", "startupWarnings"}) {
      reply.push(bson::Value(name).view());
    }
    reply.close();
    return {};
  }
  if (which != "global" && which != "startupWarnings") {
    return fail(ErrorCode::kOperationFailed, "No log named '" + std::string(which) + "'");
  }
  // The program writes its log to standard error or the journal. The server keeps no lines of it.
  reply.append("totalLinesWritten", int32_t{0}).open_array("log").close();
  return {};
}

Status run_log_rotate(Call& call, bson::Builder&) {
  call.arguments().ignore("logRotate");
  GM_TRY(call.arguments().string("comment"));
  GM_TRY(call.arguments().finish());
  return {};
}

}  // namespace

Commands parameter_commands() {
  return {cluster_command("getParameter", run_get_parameter, "getParameter", "shows settings"),
          cluster_command("setParameter", run_set_parameter, "setParameter", "changes settings"),
          cluster_command("getCmdLineOpts", run_get_command_line, "getCmdLineOpts",
                          "shows the command line of the program"),
          cluster_command("getLog", run_get_log, "getLog",
                          "lists the logs; the server keeps no lines of them"),
          cluster_command("logRotate", run_log_rotate, "logRotate",
                          "does nothing, because the server does not write a log file")};
}

}  // namespace gridmount::wire
