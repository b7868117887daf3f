// findAndModify. Source: MongoDB manual, "findAndModify" (database command).

#include "engine/wire/commands/find_and_modify.h"

#include "engine/wire/call.h"
#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/read_arguments.h"
#include "engine/wire/commands/schema_change.h"
#include "engine/wire/commands/write_batch.h"
#include "engine/wire/commands/write_privileges.h"
#include "engine/wire/version_document.h"

namespace gridmount::wire {
namespace {

using bson::Type;

Status run_find_and_modify(Call& call, bson::Builder& reply) {
  GM_ASSIGN(FindAndModifyCommand command, FindAndModifyCommand::read(call.arguments()));
  GM_TRY(call.arguments().finish());
  call.set_ns(command.ns);
  command.options.variables = command.variables;
  command.options.deadline = call.deadline();
  const bool brief = is_by_id(command.query) && !command.options.hint &&
                     !command.options.is_pipeline && command.options.collation.empty();
  GM_ASSIGN(
      const std::unique_ptr<engine::Transaction> transaction,
      call.begin(brief ? engine::TransactionKind::kShort : engine::TransactionKind::kMayBlock));
  GM_TRY(call.check_interrupt());
  GM_ASSIGN(const engine::FindAndModifyResult result,
            call.store()
                .database(command.ns.database)
                ->collection(command.ns.collection)
                ->find_and_modify(*transaction, command.query, command.update, command.options));
  GM_TRY(check_version_document(call.store(), command.ns, *transaction));
  GM_TRY(call.state().commit(*transaction, call.generic().write_concern.durability));

  const bool found = command.options.remove ? result.document.has_value()
                                            : result.updated_existing || result.upserted_id;
  reply.open_document("lastErrorObject").append("n", int32_t{found ? 1 : 0});
  if (!command.options.remove) {
    reply.append("updatedExisting", result.updated_existing);
    if (result.upserted_id) reply.append("upserted", *result.upserted_id);
  }
  reply.close();
  if (result.document) {
    reply.append("value", *result.document);
  } else {
    reply.append_null("value");
  }
  call.state().counters().record_operations(command.options.remove ? OperationKind::kRemove
                                                                   : OperationKind::kUpdate);
  call.counts().append("nreturned", int64_t{result.document ? 1 : 0});
  return {};
}

}  // namespace

Result<FindAndModifyCommand> FindAndModifyCommand::read(Arguments& arguments) {
  FindAndModifyCommand command;
  engine::FindAndModifyOptions& options = command.options;
  GM_ASSIGN(command.ns, arguments.collection());
  GM_TRY(check_writable_name(command.ns));
  GM_ASSIGN(command.query, arguments.document_or_empty("query"));
  GM_ASSIGN(options.sort, arguments.document_or_empty("sort"));
  GM_ASSIGN(options.projection, arguments.document_or_empty("fields"));
  GM_ASSIGN(options.remove, arguments.boolean("remove"));
  GM_ASSIGN(options.upsert, arguments.boolean("upsert"));
  GM_ASSIGN(options.return_new, arguments.boolean("new"));
  GM_ASSIGN(options.bypass_validation, arguments.boolean("bypassDocumentValidation"));
  GM_TRY(arguments.boolean("bypassEmptyTsReplacement"));
  arguments.ignore("stmtId");
  GM_ASSIGN(options.hint, read_hint(arguments));
  GM_ASSIGN(options.collation, read_collation(arguments));
  GM_ASSIGN(command.variables, read_let(arguments, options.collation));
  GM_ASSIGN(const std::optional<bson::View> filters, arguments.array("arrayFilters"));
  if (filters) {
    GM_TRY(check_documents(arguments, "arrayFilters", *filters));
    options.array_filters = *filters;
  }
  const std::optional<bson::ValueView> update = arguments.any("update");
  if (!update && !options.remove) {
    return fail(ErrorCode::kFailedToParse, "Either an update or remove=true must be specified");
  }
  if (!update) return command;
  if (options.remove) {
    return fail(ErrorCode::kFailedToParse, "Cannot specify both an update and remove=true");
  }
  if (update->type() != Type::kDocument && update->type() != Type::kArray) {
    return fail(ErrorCode::kFailedToParse, "Update argument must be either an object or an array");
  }
  command.update = update->as_document();
  options.is_pipeline = update->type() == Type::kArray;
  if (filters && options.is_pipeline) {
    return fail(ErrorCode::kFailedToParse, "Cannot specify arrayFilters and a pipeline update");
  }
  return command;
}

Commands find_and_modify_commands() {
  Command command{
      .name = "findAndModify", .other_names = {"findandmodify"}, .run = run_find_and_modify};
  command.privileges = [](const Request& request) {
    std::vector<std::string_view> actions = {"find"};
    actions.push_back(is_requested(request.body, "remove") ? "remove" : "update");
    if (is_requested(request.body, "upsert")) actions.push_back("insert");
    return write_privileges(request, actions);
  };
  command.rules = {.write_concern = true, .in_api_version_1 = true};
  command.about = "changes or removes one document and returns it";
  return {command};
}

}  // namespace gridmount::wire
