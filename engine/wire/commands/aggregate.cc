// aggregate. Source: MongoDB manual, "aggregate" (database command), "$currentOp",
// "$listLocalSessions".

#include "engine/wire/commands/aggregate.h"

#include <algorithm>
#include <string>

#include "engine/bson/number.h"
#include "engine/wire/commands/api_version.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/current_operations.h"
#include "engine/wire/commands/explain.h"
#include "engine/wire/commands/host_name.h"
#include "engine/wire/commands/read_arguments.h"
#include "engine/wire/privilege_check.h"

namespace gridmount::wire {
namespace {

using bson::Type;

// The collection name of {aggregate: 1}, which reads no collection. As on servers, such a pipeline
// needs the privilege of find on this name.
constexpr std::string_view kNoCollection = "$cmd.aggregate";

bson::Element first_of(bson::View stage) {
  return *stage.begin();
}

bool is_about_server(std::string_view stage) {
  return stage == "$currentOp" || stage == "$listLocalSessions";
}

// Appends {$documents: {$literal: [...]}}, a stage that returns the documents unchanged.
void append_documents(bson::Builder& out, const std::vector<bson::Document>& documents) {
  out.push_open_document().open_document("$documents").open_array("$literal");
  for (const bson::Document& document : documents) out.push(document.view());
  out.close().close().close();
}

// Returns the pipeline. If its first stage reports the server's own state, a stage with the
// documents of this report replaces the first stage.
Result<bson::Document> resolve_sources(Call& call, const engine::Namespace& ns,
                                       bson::View pipeline) {
  bson::Builder array;
  array.open_array("p");
  bool is_first = true;
  for (const bson::Element stage : pipeline) {
    const bson::View document = stage.value.as_document();
    const bson::Element head =
        document.empty() ? bson::Element{{}, stage.value} : first_of(document);
    if (!is_about_server(head.key)) {
      array.push(stage.value);
      is_first = false;
      continue;
    }
    const std::string name(head.key);
    if (!is_first) {
      return fail(ErrorCode{40602}, name + " is only valid as the first stage in the pipeline.");
    }
    if (!ns.collection.empty() || (name == "$currentOp" && ns.database != "admin")) {
      return fail(ErrorCode::kInvalidNamespace,
                  name + (name == "$currentOp"
                              ? " must be run against the 'admin' database with {aggregate: 1}"
                              : " must be run against the database with {aggregate: 1}"));
    }
    if (head.value.type() != Type::kDocument) {
      return fail(ErrorCode::kFailedToParse,
                  name + " options must be specified in an object, but found: " +
                      std::string(type_name(head.value)));
    }
    const Privilege privilege{Privilege::Resource::kCluster,
                              name == "$currentOp" ? "inprog" : "listSessions"};
    GM_TRY(check_privilege(call, privilege));
    call.record_reached(privilege);
    GM_ASSIGN(const std::vector<bson::Document> documents,
              name == "$currentOp" ? current_operations(call, head.value.as_document())
                                   : local_sessions(call, head.value.as_document()));
    append_documents(array, documents);
    is_first = false;
  }
  array.close();
  const bson::Document whole = std::move(array).finish();
  return bson::Document(whole.view()["p"].as_document());
}

bool has_a_write(bson::View pipeline) {
  for (const bson::Element stage : pipeline) {
    if (stage.value.type() != Type::kDocument || stage.value.as_document().empty()) continue;
    const std::string_view name = first_of(stage.value.as_document()).key;
    if (name == "$out" || name == "$merge") return true;
  }
  return false;
}

// Returns true if the first stage reports the server's own state. Such stages need privileges of
// their own.
bool begins_with_the_server(bson::View pipeline) {
  if (pipeline.empty()) return false;
  const bson::ValueView stage = (*pipeline.begin()).value;
  return stage.type() == Type::kDocument && !stage.as_document().empty() &&
         is_about_server(first_of(stage.as_document()).key);
}

Result<engine::Namespace> read_ns(Arguments& arguments) {
  GM_ASSIGN(const bson::ValueView target, arguments.required("aggregate"));
  if (!target.is_number()) return arguments.collection();
  engine::Namespace ns;
  GM_ASSIGN(ns.database, arguments.database());
  if (bson::clamped_integer(target) != 1) {
    return fail(ErrorCode::kBadValue,
                "Invalid command format: the 'aggregate' field must specify a collection name or "
                "1");
  }
  return ns;
}

Status run_writing(Call& call, const AggregateCommand& aggregate,
                   const engine::AggregateOptions& options, bson::Builder& reply) {
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, call.begin());
  {
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              call.store()
                  .database(aggregate.ns.database)
                  ->collection(aggregate.ns.collection)
                  ->aggregate(*transaction, aggregate.pipeline, options));
  }
  GM_TRY(call.state().commit(*transaction, call.generic().write_concern.durability));
  reply.open_document("cursor").open_array("firstBatch").close();
  reply.append("id", int64_t{0}).append("ns", aggregate.cursor_ns().full()).close();
  return {};
}

Status run_aggregate(Call& call, bson::Builder& reply) {
  GM_ASSIGN(const AggregateCommand aggregate, AggregateCommand::read(call, call.arguments()));
  GM_TRY(call.arguments().finish());
  call.set_ns(aggregate.cursor_ns());
  engine::AggregateOptions options = aggregate.options;
  options.variables = aggregate.variables;
  const std::string host = host_and_port(call.state());
  options.host = host;
  options.deadline = call.deadline();
  options.memory_bytes_max = call.state().options().operation_bytes_max;
  if (aggregate.explain) {
    GM_TRY(refuse_write_concern(call.request().body));
    GM_ASSIGN(const bson::Document explained,
              explain_aggregate(call, aggregate, options, engine::Verbosity::kQueryPlanner));
    reply.append_all(explained);
    append_explain_footer(call, call.request().body, reply);
    return {};
  }
  if (aggregate.writes) return run_writing(call, aggregate, options, reply);
  GM_ASSIGN(std::unique_ptr<engine::Snapshot> snapshot, call.snapshot());
  GM_ASSIGN(std::unique_ptr<engine::Cursor> cursor,
            call.store()
                .database(aggregate.ns.database)
                ->collection(aggregate.ns.collection)
                ->aggregate(*snapshot, aggregate.pipeline, options));
  return reply_first_batch(call, reply, aggregate.cursor_ns(), std::move(snapshot),
                           std::move(cursor), aggregate.cursor);
}

void add(std::vector<Privilege>& privileges, std::string_view action, std::string_view database,
         std::string_view collection) {
  privileges.push_back(
      {Privilege::Resource::kCollection, action, std::string(database), std::string(collection)});
}

}  // namespace

std::vector<Privilege> aggregate_privileges(const Request& request) {
  std::vector<Privilege> privileges;
  const bson::ValueView name = (*request.body.begin()).value;
  bson::View pipeline;
  if (const auto stages = request.body.find("pipeline"); stages && stages->type() == Type::kArray) {
    pipeline = stages->as_document();
  }
  if (name.is_number() && !begins_with_the_server(pipeline)) {
    add(privileges, "find", request.database, kNoCollection);
  }
  if (name.type() == Type::kString) {
    std::string_view action = "find";
    for (const bson::Element stage : pipeline) {
      if (stage.value.type() != Type::kDocument || stage.value.as_document().empty()) break;
      const std::string_view first = first_of(stage.value.as_document()).key;
      if (first == "$collStats") action = "collStats";
      if (first == "$indexStats") action = "indexStats";
      break;
    }
    add(privileges, action, request.database, name.as_string());
  }
  return privileges;
}

engine::Namespace AggregateCommand::cursor_ns() const {
  return {ns.database, ns.collection.empty() ? std::string(kNoCollection) : ns.collection};
}

Result<AggregateCommand> AggregateCommand::read(Call& call, Arguments& arguments) {
  AggregateCommand aggregate;
  GM_ASSIGN(aggregate.ns, read_ns(arguments));
  GM_ASSIGN(const std::optional<bson::View> pipeline, arguments.array("pipeline"));
  if (!pipeline) return arguments.missing("pipeline");
  for (const bson::Element stage : *pipeline) {
    if (stage.value.type() != Type::kDocument) {
      return fail(ErrorCode::kTypeMismatch,
                  "Each element of the 'pipeline' array must be an object");
    }
  }
  if (call.generic().api_strict) GM_TRY(check_pipeline_is_stable(*pipeline));
  GM_ASSIGN(const std::optional<bool> explain, arguments.strict_boolean("explain"));
  aggregate.explain = explain.value_or(false);
  GM_ASSIGN(const std::optional<bson::View> cursor, arguments.document("cursor"));
  if (!cursor && !aggregate.explain) {
    return fail(ErrorCode::kFailedToParse,
                "The 'cursor' option is required, except for aggregate with the explain argument");
  }
  GM_ASSIGN(aggregate.cursor, read_cursor_argument("aggregate.cursor", cursor));
  GM_ASSIGN(aggregate.options.hint, read_hint(arguments));
  GM_ASSIGN(aggregate.options.bypass_validation, arguments.boolean("bypassDocumentValidation"));
  GM_ASSIGN(aggregate.options.collation, read_collation(arguments));
  GM_ASSIGN(aggregate.variables, read_let(arguments, aggregate.options.collation));
  // This option has no effect, because stages use memory up to their limit and never the disk.
  GM_TRY(arguments.strict_boolean("allowDiskUse"));
  GM_TRY(refuse_option(arguments, "fromMongos"));
  GM_TRY(refuse_option(arguments, "needsMerge"));
  GM_TRY(refuse_option(arguments, "exchange"));
  GM_ASSIGN(aggregate.pipeline, resolve_sources(call, aggregate.ns, *pipeline));
  aggregate.writes = has_a_write(aggregate.pipeline);
  return aggregate;
}

Commands aggregate_commands() {
  Command aggregate{.name = "aggregate", .run = run_aggregate};
  aggregate.privileges = aggregate_privileges;
  aggregate.rules = {.read_concern = true, .write_concern = true, .in_api_version_1 = true};
  aggregate.about = "runs a pipeline over the documents of a collection";
  return {aggregate};
}

}  // namespace gridmount::wire
