// insert. Source: MongoDB manual, "insert" (database command).

#include "engine/wire/commands/command_groups.h"
#include "engine/wire/commands/last_write.h"
#include "engine/wire/commands/read_arguments.h"
#include "engine/wire/commands/schema_change.h"
#include "engine/wire/commands/write_batch.h"
#include "engine/wire/commands/write_privileges.h"

namespace gridmount::wire {
namespace {

Status run_insert(Call& call, bson::Builder& reply) {
  Arguments& arguments = call.arguments();
  GM_ASSIGN(const engine::Namespace ns, arguments.collection());
  GM_ASSIGN(const std::vector<bson::View> documents, arguments.documents("documents"));
  GM_ASSIGN(const std::optional<bool> ordered, arguments.strict_boolean("ordered"));
  engine::InsertOptions options;
  GM_ASSIGN(options.bypass_validation, arguments.boolean("bypassDocumentValidation"));
  GM_ASSIGN(options.keep_empty_timestamps, arguments.boolean("bypassEmptyTsReplacement"));
  // stmtIds numbers retryable writes, which a standalone server does not support.
  arguments.ignore("stmtIds");
  GM_TRY(arguments.finish());
  GM_TRY(check_batch_size(documents.size()));
  GM_TRY(check_writable_name(ns));
  call.set_ns(ns);

  const std::shared_ptr<engine::Database> database = call.store().database(ns.database);
  const std::unique_ptr<engine::Collection> collection = database->collection(ns.collection);
  WriteBatch batch;
  batch.statements = documents.size();
  batch.ordered = ordered.value_or(true);
  batch.brief = are_brief_documents(documents);
  batch.run = [&](engine::Transaction& transaction, size_t index) -> Result<StatementResult> {
    GM_TRY(collection->insert(transaction, documents[index], options));
    return StatementResult{.matched = 1};
  };
  batch.bytes = [&](size_t index) { return documents[index].size(); };
  GM_ASSIGN(const BatchResult result, run_batch(call, batch));
  call.state().counters().record_operations(OperationKind::kInsert,
                                            static_cast<int64_t>(documents.size()));
  call.counts().append("ninserted", result.matched);
  record_last_write(call.client(), result, false);
  append_batch_result(call, reply, result, false);
  return {};
}

}  // namespace

Commands insert_commands() {
  Command insert{.name = "insert", .run = run_insert};
  insert.privileges = [](const Request& request) { return write_privileges(request, {"insert"}); };
  insert.rules = {.write_concern = true, .in_api_version_1 = true};
  insert.kind = OperationKind::kInsert;
  insert.about = "inserts documents";
  return {insert};
}

}  // namespace gridmount::wire
