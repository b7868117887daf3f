// delete. Source: MongoDB manual, "delete" (database command).

#include <string>

#include "engine/bson/text.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/last_write.h"
#include "engine/wire/commands/read_arguments.h"
#include "engine/wire/commands/write_batch.h"
#include "engine/wire/commands/write_privileges.h"
#include "engine/wire/commands/write_statements.h"

namespace gridmount::wire {
namespace {

Status run_delete(Call& call, bson::Builder& reply) {
  GM_ASSIGN(const DeleteCommand command, DeleteCommand::read(call.arguments()));
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
    GM_ASSIGN(DeleteStatement statement, command.statement(index));
    statement.options.variables = command.variables;
    statement.options.deadline = call.deadline();
    GM_ASSIGN(const int64_t removed, collection->remove(transaction, statement.filter,
                                                        statement.multi, statement.options));
    return StatementResult{.matched = removed};
  };
  batch.bytes = [&](size_t index) { return command.statements[index].size(); };
  batch.shown = [&](size_t index) { return bson::Document(command.statements[index]); };
  batch.counts = [](const StatementResult& done) {
    bson::Builder counts;
    counts.append("ndeleted", done.matched);
    return std::move(counts).finish();
  };
  GM_ASSIGN(const BatchResult result, run_batch(call, batch));
  call.state().counters().record_operations(OperationKind::kRemove,
                                            static_cast<int64_t>(command.statements.size()));
  call.counts().append("ndeleted", result.matched);
  record_last_write(call.client(), result, false);
  append_batch_result(call, reply, result, false);
  return {};
}

}  // namespace

Result<DeleteCommand> DeleteCommand::read(Arguments& arguments) {
  DeleteCommand command;
  GM_ASSIGN(command.ns, arguments.collection());
  GM_ASSIGN(command.statements, arguments.documents("deletes"));
  GM_ASSIGN(const std::optional<bool> ordered, arguments.strict_boolean("ordered"));
  command.ordered = ordered.value_or(true);
  GM_ASSIGN(command.variables, read_let(arguments));
  // A delete accepts this option as other writes do, although a delete validates nothing.
  GM_TRY(arguments.boolean("bypassDocumentValidation"));
  arguments.ignore("stmtIds");
  GM_TRY(check_batch_size(command.statements.size()));
  for (size_t i = 0; i < command.statements.size(); ++i) GM_TRY(command.statement(i));
  return command;
}

Result<DeleteStatement> DeleteCommand::statement(size_t index) const {
  GM_ASSIGN(Arguments fields, Arguments::of("delete.deletes", statements[index]));
  DeleteStatement statement;
  GM_ASSIGN(statement.filter, fields.required_document("q"));
  GM_ASSIGN(const std::optional<int64_t> limit, fields.integer("limit"));
  if (!limit) return fields.missing("limit");
  // Checks the number before its conversion to an integer: 0.5 must not become 0, which deletes all
  // documents.
  const bson::ValueView given = *fields.any("limit");
  if (given.number() != 0.0 && given.number() != 1.0) {
    return fail(ErrorCode::kFailedToParse,
                "The limit field in delete objects must be 0 or 1. Got " + bson::to_text(given));
  }
  statement.multi = *limit == 0;
  GM_ASSIGN(statement.options.collation, read_collation(fields));
  GM_ASSIGN(statement.options.hint, read_hint(fields));
  GM_TRY(fields.finish());
  return statement;
}

Commands delete_commands() {
  Command remove{.name = "delete", .run = run_delete};
  remove.privileges = [](const Request& request) { return write_privileges(request, {"remove"}); };
  remove.rules = {.write_concern = true, .in_api_version_1 = true};
  remove.kind = OperationKind::kRemove;
  remove.about = "removes documents";
  return {remove};
}

}  // namespace gridmount::wire
