// explain of find, aggregate, count, distinct, update, delete and findAndModify.

#include "engine/wire/commands/explain.h"

#include <functional>
#include <string>

#include "engine/bson/count.h"
#include "engine/query/field_path.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/count.h"
#include "engine/wire/commands/distinct.h"
#include "engine/wire/commands/find.h"
#include "engine/wire/commands/find_and_modify.h"
#include "engine/wire/commands/host_name.h"
#include "engine/wire/commands/write_statements.h"

namespace gridmount::wire {
namespace {

using engine::Verbosity;

// A write stage above the plan of the find: its name, and a function that appends the counts of its
// execution.
struct Write {
  std::string_view stage;
  std::function<void(bson::Builder&)> counts = {};
};

// Appends the statistics of a stage that returns no documents: one work unit for each document
// below it and one for the end.
void append_steps(bson::Builder& out, bson::View below) {
  const int64_t documents = below["nReturned"].integral().value_or(0);
  out.append("nReturned", int32_t{0});
  if (const auto time = below.find("executionTimeMillisEstimate")) {
    out.append("executionTimeMillisEstimate", *time);
  }
  bson::append_count(out, "works", documents + 1);
  out.append("advanced", int32_t{0});
  bson::append_count(out, "needTime", documents);
  for (const char* const name : {"needYield", "saveState", "restoreState"}) {
    out.append(name, int32_t{0});
  }
  out.append("isEOF", int32_t{1});
}

// Returns the plan of the find below a write, without the LIMIT stage. Only the find that explains
// a write of a single document has this stage.
bson::View without_limit(bson::View plan) {
  return plan["stage"].as_string() == "LIMIT" ? plan["inputStage"].as_document() : plan;
}

// Returns the explanation with the write stage above the plan, in queryPlanner and in
// executionStats.
bson::Document under(const bson::Document& explained, const Write& write) {
  bson::Builder out;
  for (const bson::Element field : explained.view()) {
    const bool plans = field.key == "queryPlanner";
    if (!plans && field.key != "executionStats") {
      out.append(field.key, field.value);
      continue;
    }
    out.open_document(field.key);
    for (const bson::Element inner : field.value.as_document()) {
      if (inner.key == "nReturned" && write.counts) {
        out.append(inner.key, int32_t{0});
        continue;
      }
      if (inner.key != "winningPlan" && inner.key != "executionStages") {
        out.append(inner.key, inner.value);
        continue;
      }
      const bson::View below = without_limit(inner.value.as_document());
      out.open_document(inner.key).append("stage", write.stage);
      if (!plans && write.counts) {
        append_steps(out, below);
        write.counts(out);
      }
      out.append("inputStage", below).close();
    }
    out.close();
  }
  return std::move(out).finish();
}

std::unique_ptr<engine::Collection> collection_of(Call& call, const engine::Namespace& ns) {
  return call.store().database(ns.database)->collection(ns.collection);
}

Result<bson::Document> explain_find(Call& call, const engine::Namespace& ns, bson::View filter,
                                    const engine::FindOptions& options, Verbosity verbosity) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  return collection_of(call, ns)->explain(*snapshot, filter, options, verbosity);
}

Result<bson::Document> of_find(Call& call, Arguments& arguments, Verbosity verbosity) {
  GM_ASSIGN(const FindCommand find, FindCommand::read(arguments));
  GM_TRY(arguments.finish());
  engine::FindOptions options = find.options;
  options.variables = find.variables;
  options.deadline = call.deadline();
  options.sort_bytes_max = call.state().options().operation_bytes_max;
  if (find.cursor.tailable) {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
    GM_TRY(can_be_tailed(*call.store().database(find.ns.database), *snapshot, find.ns));
  }
  return explain_find(call, find.ns, find.filter, options, verbosity);
}

Result<bson::Document> of_count(Call& call, Arguments& arguments, Verbosity verbosity) {
  GM_ASSIGN(CountCommand count, CountCommand::read(arguments));
  GM_TRY(arguments.finish());
  count.options.deadline = call.deadline();
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  return collection_of(call, count.ns)
      ->explain_count(*snapshot, count.query, count.options, verbosity);
}

Result<bson::Document> of_distinct(Call& call, Arguments& arguments, Verbosity verbosity) {
  GM_ASSIGN(const DistinctCommand distinct, DistinctCommand::read(arguments));
  GM_TRY(arguments.finish());
  GM_TRY(query::check_field_path(distinct.key));
  engine::FindOptions options;
  options.hint = distinct.options.hint;
  options.collation = distinct.options.collation;
  options.deadline = call.deadline();
  options.distinct_path = distinct.key;
  return explain_find(call, distinct.ns, distinct.query, options, verbosity);
}

Result<bson::Document> of_aggregate(Call& call, Arguments& arguments, Verbosity verbosity) {
  const bson::View explained = call.request().body["explain"].as_document();
  if (explained.find("explain")) {
    return fail(ErrorCode::kFailedToParse,
                "The 'explain' option is illegal when a explain verbosity is also provided");
  }
  GM_TRY(refuse_write_concern(explained));
  GM_ASSIGN(const AggregateCommand aggregate, AggregateCommand::read(call, arguments));
  GM_TRY(arguments.finish());
  engine::AggregateOptions options = aggregate.options;
  options.variables = aggregate.variables;
  const std::string host = host_and_port(call.state());
  options.host = host;
  options.deadline = call.deadline();
  options.memory_bytes_max = call.state().options().operation_bytes_max;
  return explain_aggregate(call, aggregate, options, verbosity);
}

// The counts come from a run of the update in a transaction that is not committed.
Result<bson::Document> of_update(Call& call, Arguments& arguments, Verbosity verbosity) {
  GM_ASSIGN(const UpdateCommand command, UpdateCommand::read(arguments));
  GM_TRY(arguments.finish());
  if (command.statements.size() != 1) {
    return fail(ErrorCode::kInvalidLength, "explained write batches must be of size 1");
  }
  GM_ASSIGN(UpdateStatement statement, command.statement(0));
  statement.options.deadline = call.deadline();
  engine::FindOptions options;
  options.hint = statement.options.hint;
  options.collation = statement.options.collation;
  options.variables = statement.variables;
  options.limit = statement.options.multi ? 0 : 1;
  options.deadline = call.deadline();
  GM_ASSIGN(const bson::Document explained,
            explain_find(call, command.ns, statement.filter, options, verbosity));
  engine::UpdateResult result;
  if (verbosity == Verbosity::kExecutionStats) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, call.begin());
    statement.options.variables = statement.variables;
    GM_ASSIGN(result,
              collection_of(call, command.ns)
                  ->update(*transaction, statement.filter, statement.update, statement.options));
  }
  return under(explained, {"UPDATE", [&result](bson::Builder& out) {
                             bson::append_count(out, "nMatched", result.matched);
                             bson::append_count(out, "nWouldModify", result.modified);
                             out.append("nWouldUpsert", int32_t{result.upserted_id ? 1 : 0});
                           }});
}

Result<bson::Document> of_delete(Call& call, Arguments& arguments, Verbosity verbosity) {
  GM_ASSIGN(const DeleteCommand command, DeleteCommand::read(arguments));
  GM_TRY(arguments.finish());
  if (command.statements.size() != 1) {
    return fail(ErrorCode::kInvalidLength, "explained write batches must be of size 1");
  }
  GM_ASSIGN(const DeleteStatement statement, command.statement(0));
  engine::FindOptions options;
  options.hint = statement.options.hint;
  options.collation = statement.options.collation;
  options.variables = command.variables;
  options.limit = statement.multi ? 0 : 1;
  options.deadline = call.deadline();
  GM_ASSIGN(const bson::Document explained,
            explain_find(call, command.ns, statement.filter, options, verbosity));
  int64_t removed = 0;
  if (verbosity == Verbosity::kExecutionStats) {
    const std::optional<bson::ValueView> stats = explained.find("executionStats");
    if (stats) removed = stats->as_document()["nReturned"].integral().value_or(0);
  }
  return under(explained, {"DELETE", [removed](bson::Builder& out) {
                             bson::append_count(out, "nWouldDelete", removed);
                           }});
}

Result<bson::Document> of_find_and_modify(Call& call, Arguments& arguments, Verbosity verbosity) {
  GM_ASSIGN(const FindAndModifyCommand command, FindAndModifyCommand::read(arguments));
  GM_TRY(arguments.finish());
  engine::FindOptions options;
  options.sort = command.options.sort;
  options.hint = command.options.hint;
  options.collation = command.options.collation;
  options.variables = command.variables;
  options.limit = 1;
  options.deadline = call.deadline();
  GM_ASSIGN(const bson::Document explained,
            explain_find(call, command.ns, command.query, options, verbosity));
  return under(explained, {command.options.remove ? "DELETE" : "UPDATE"});
}

struct Explainable {
  std::string_view name;
  Result<bson::Document> (*explain)(Call& call, Arguments& arguments, Verbosity verbosity);
};

constexpr Explainable kExplainable[] = {{"find", of_find},
                                        {"count", of_count},
                                        {"distinct", of_distinct},
                                        {"aggregate", of_aggregate},
                                        {"update", of_update},
                                        {"delete", of_delete},
                                        {"findAndModify", of_find_and_modify},
                                        {"findandmodify", of_find_and_modify}};

Result<Verbosity> read_verbosity(Arguments& arguments) {
  GM_ASSIGN(const std::optional<std::string_view> name, arguments.string("verbosity"));
  if (!name || *name == "allPlansExecution" || *name == "executionStats") {
    return Verbosity::kExecutionStats;
  }
  if (*name == "queryPlanner") return Verbosity::kQueryPlanner;
  return fail(ErrorCode::kBadValue, "Enumeration value '" + std::string(*name) +
                                        "' for field 'explain.verbosity' is not a valid value.");
}

Status run_explain(Call& call, bson::Builder& reply) {
  GM_ASSIGN(const bson::View explained, call.arguments().required_document("explain"));
  GM_ASSIGN(const Verbosity verbosity, read_verbosity(call.arguments()));
  GM_TRY(call.arguments().finish());
  Request inner{explained, call.request().database, {}, false};
  for (const Explainable& one : kExplainable) {
    if (one.name != inner.name()) continue;
    GM_ASSIGN(Arguments arguments, Arguments::of(inner));
    // An explained command may have generic arguments. They have no effect.
    const Command& command = *find_command(inner.name());
    GM_TRY(read_generic_arguments(arguments, command.rules));
    GM_ASSIGN(const bson::Document document, one.explain(call, arguments, verbosity));
    reply.append_all(document);
    append_explain_footer(call, explained, reply);
    return {};
  }
  return fail(ErrorCode{59}, "Explain failed due to unknown command: " + std::string(inner.name()));
}

std::vector<Privilege> explain_privileges(const Request& request) {
  const bson::ValueView explained = (*request.body.begin()).value;
  if (explained.type() != bson::Type::kDocument || explained.as_document().empty()) return {};
  const Request inner{explained.as_document(), request.database, {}, false};
  const Command* const command = find_command(inner.name());
  // The explanation of a command needs the privileges of the command. explain itself cannot be
  // explained.
  if (command == nullptr || command->name == "explain") return {};
  return privileges_of(*command, inner);
}

}  // namespace

Status refuse_write_concern(bson::View aggregate) {
  if (!aggregate.find("writeConcern")) return {};
  return fail(ErrorCode::kFailedToParse,
              "Aggregation explain does not support the'writeConcern' option");
}

Result<bson::Document> explain_aggregate(Call& call, const AggregateCommand& aggregate,
                                         const engine::AggregateOptions& options,
                                         engine::Verbosity verbosity) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  return collection_of(call, aggregate.ns)
      ->explain_aggregate(*snapshot, aggregate.pipeline, options, verbosity);
}

void append_explain_footer(Call& call, bson::View command, bson::Builder& reply) {
  constexpr uint32_t kShownBytesMax = 1 << 20;
  if (command.size() <= kShownBytesMax) {
    reply.open_document("command");
    for (const bson::Element field : command) {
      if (field.key != "$db" && field.key != "lsid") reply.append(field.key, field.value);
    }
    reply.append("$db", call.request().database).close();
  }
  reply.open_document("serverInfo")
      .append("host", host_name())
      .append("port", int32_t{port_of(call.state())});
  reply.append("version", call.state().options().version).append("gitVersion", "").close();
  reply.open_document("serverParameters");
  bson::append_count(reply, "internalQueryMaxBlockingSortMemoryUsageBytes",
                     static_cast<int64_t>(call.state().options().operation_bytes_max));
  reply.close();
}

Commands explain_commands() {
  Command explain{.name = "explain", .run = run_explain};
  explain.privileges = explain_privileges;
  explain.rules = {.read_concern = true, .in_api_version_1 = true};
  explain.about = "shows the plan of a command";
  return {explain};
}

}  // namespace gridmount::wire
