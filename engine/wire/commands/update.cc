// update. Source: MongoDB manual, "update" (database command).

#include "engine/bson/builder.h"
#include "engine/query/pipeline/update_stages.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/last_write.h"
#include "engine/wire/commands/read_arguments.h"
#include "engine/wire/commands/schema_change.h"
#include "engine/wire/commands/write_batch.h"
#include "engine/wire/commands/write_privileges.h"
#include "engine/wire/commands/write_statements.h"

namespace gridmount::wire {
namespace {

using bson::Type;

// Returns the statement with its omitted flags added, as servers show it.
bson::Document shown_statement(bson::View statement) {
  bson::Builder shown;
  shown.append_all(statement);
  for (const std::string_view flag : {"multi", "upsert"}) {
    if (!statement.find(flag)) shown.append(flag, false);
  }
  return std::move(shown).finish();
}

Status run_update(Call& call, bson::Builder& reply) {
  GM_ASSIGN(const UpdateCommand command, UpdateCommand::read(call.arguments()));
  GM_TRY(call.arguments().finish());
  call.set_ns(command.ns);
  const std::shared_ptr<engine::Database> database = call.store().database(command.ns.database);
  const std::unique_ptr<engine::Collection> collection =
      database->collection(command.ns.collection);
  WriteBatch batch;
  batch.statements = command.statements.size();
  batch.ordered = command.ordered;
  batch.brief = are_brief_statements(command.statements);
  batch.run = [&](engine::Transaction& transaction, size_t index) -> Result<StatementResult> {
    GM_ASSIGN(UpdateStatement statement, command.statement(index));
    statement.options.variables = statement.variables;
    statement.options.deadline = call.deadline();
    GM_ASSIGN(engine::UpdateResult done, collection->update(transaction, statement.filter,
                                                            statement.update, statement.options));
    return StatementResult{done.matched, done.modified, std::move(done.upserted_id)};
  };
  batch.bytes = [&](size_t index) { return command.statements[index].size(); };
  batch.shown = [&](size_t index) { return shown_statement(command.statements[index]); };
  batch.counts = [](const StatementResult& done) {
    bson::Builder counts;
    counts.append("nMatched", done.matched).append("nModified", done.modified);
    counts.append("nUpserted", int64_t{done.upserted_id ? 1 : 0});
    return std::move(counts).finish();
  };
  GM_ASSIGN(const BatchResult result, run_batch(call, batch));
  call.state().counters().record_operations(OperationKind::kUpdate,
                                            static_cast<int64_t>(command.statements.size()));
  call.counts().append("nMatched", result.matched).append("nModified", result.modified);
  call.counts().append("nUpserted", static_cast<int64_t>(result.upserted.size()));
  record_last_write(call.client(), result, true);
  append_batch_result(call, reply, result, true);
  return {};
}

// Returns the values of `let` and of `c`. A value of `c` overrides one of `let` with the same name.
bson::Document joined(const bson::Document& let, bson::View constants) {
  if (constants.empty()) return let;
  bson::Builder all;
  for (const bson::Element element : let.view()) {
    if (!constants.find(element.key)) all.append(element.key, element.value);
  }
  all.append_all(constants);
  return std::move(all).finish();
}

bool has_upsert(const Request& request) {
  const auto upserts = [](bson::View statement) { return is_requested(statement, "upsert"); };
  for (const Sequence& sequence : request.sequences) {
    for (const bson::View statement : sequence.documents) {
      if (upserts(statement)) return true;
    }
  }
  const std::optional<bson::ValueView> updates = request.body.find("updates");
  if (!updates || updates->type() != Type::kArray) return false;
  for (const bson::Element statement : updates->as_document()) {
    if (statement.value.type() == Type::kDocument && upserts(statement.value.as_document())) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<UpdateCommand> UpdateCommand::read(Arguments& arguments) {
  UpdateCommand command;
  GM_ASSIGN(command.ns, arguments.collection());
  GM_ASSIGN(command.statements, arguments.documents("updates"));
  GM_ASSIGN(const std::optional<bool> ordered, arguments.strict_boolean("ordered"));
  command.ordered = ordered.value_or(true);
  GM_ASSIGN(command.bypass_validation, arguments.boolean("bypassDocumentValidation"));
  GM_ASSIGN(command.variables, read_let(arguments));
  // This option has no effect: the store always fills in the empty timestamps of a replacement.
  GM_TRY(arguments.boolean("bypassEmptyTsReplacement"));
  arguments.ignore("stmtIds");
  GM_TRY(check_batch_size(command.statements.size()));
  GM_TRY(check_writable_name(command.ns));
  for (size_t i = 0; i < command.statements.size(); ++i) {
    GM_ASSIGN(const UpdateStatement statement, command.statement(i));
    // As on mongod 6.0.5, the error is the reply to the whole command. But mongod has then already
    // run the statements before this one. This server has run none.
    if (statement.options.is_pipeline) GM_TRY(query::check_stage_names(statement.update));
  }
  return command;
}

Result<UpdateStatement> UpdateCommand::statement(size_t index) const {
  GM_ASSIGN(Arguments fields, Arguments::of("update.updates", statements[index]));
  UpdateStatement statement;
  GM_ASSIGN(statement.filter, fields.required_document("q"));
  GM_ASSIGN(const bson::ValueView update, fields.required("u"));
  if (update.type() != Type::kDocument && update.type() != Type::kArray) {
    return fail(ErrorCode::kFailedToParse, "Update argument must be either an object or an array");
  }
  statement.update = update.as_document();
  statement.options.is_pipeline = update.type() == Type::kArray;
  GM_ASSIGN(const bson::View constants, fields.document_or_empty("c"));
  if (!constants.empty() && !statement.options.is_pipeline) {
    return fail(ErrorCode{51198}, "Constant values may only be specified for pipeline updates");
  }
  GM_ASSIGN(const std::optional<bool> multi, fields.strict_boolean("multi"));
  GM_ASSIGN(const std::optional<bool> upsert, fields.strict_boolean("upsert"));
  statement.options.multi = multi.value_or(false);
  statement.options.upsert = upsert.value_or(false);
  GM_ASSIGN(statement.options.collation, read_collation(fields));
  GM_ASSIGN(const std::optional<bson::View> filters, fields.array("arrayFilters"));
  if (filters) {
    GM_TRY(check_documents(fields, "arrayFilters", *filters));
    if (statement.options.is_pipeline) {
      return fail(ErrorCode::kFailedToParse,
                  "arrayFilters may not be specified for pipeline-style updates");
    }
    statement.options.array_filters = *filters;
  }
  GM_ASSIGN(statement.options.hint, read_hint(fields));
  GM_TRY(refuse_option(fields, "upsertSupplied"));
  GM_TRY(fields.finish());
  statement.options.bypass_validation = bypass_validation;
  statement.variables = joined(variables, constants);
  return statement;
}

Commands update_commands() {
  Command update{.name = "update", .run = run_update};
  update.privileges = [](const Request& request) {
    std::vector<std::string_view> actions = {"update"};
    if (has_upsert(request)) actions.push_back("insert");
    return write_privileges(request, actions);
  };
  update.rules = {.write_concern = true, .in_api_version_1 = true};
  update.kind = OperationKind::kUpdate;
  update.about = "changes documents";
  return {update};
}

}  // namespace gridmount::wire
