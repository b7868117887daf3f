// Runs the statements of one write command in few transactions. One transaction for each statement
// would be slow. One transaction for all statements would make other writers wait for seconds.
//
// B1. Each statement takes effect completely or not at all.
// B2. Everything that the result reports is committed when run_batch() returns. If the write
//     concern demands it, everything is also durable, or write_concern_error says why not.
// B3. If a transaction of several statements cannot be committed, or must be rolled back because of
//     one statement (no space, an I/O error, a transaction that is too large, B4), each of its
//     statements runs again in its own transaction, and so gets its own result.
// B4. A statement that would remove the version document or make it invalid (version_document.h)
//     fails.
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/store.h"
#include "engine/wire/call.h"

namespace gridmount::wire {

inline constexpr size_t kBatchStatementsMax = 100'000;

struct StatementResult {
  int64_t matched = 0;  // number of documents inserted, matched or removed
  int64_t modified = 0;
  std::optional<bson::Value> upserted_id = {};
};

struct WriteBatch {
  size_t statements = 0;
  bool ordered = true;  // the first statement that fails ends the batch
  // The batch reads and writes little, so its transactions can be short (TransactionKind::kShort).
  bool brief = false;
  // Runs the statement at `index`. May be called again for a statement whose transaction was not
  // committed.
  std::function<Result<StatementResult>(engine::Transaction&, size_t index)> run;
  std::function<size_t(size_t index)> bytes;  // about how many bytes a statement writes
  // run_batch() calls these for the profiler's record of each statement and its result. If they are
  // empty, the profiler records the whole command.
  std::function<bson::Document(size_t index)> shown;
  std::function<bson::Document(const StatementResult& result)> counts;
};

// Each element of `upserted` and `errors` begins with the index of its statement.
struct BatchResult {
  int64_t matched = 0;  // as in StatementResult, and the upserted documents too
  int64_t modified = 0;
  std::vector<std::pair<size_t, bson::Value>> upserted;
  std::vector<std::pair<size_t, Error>> errors;
  std::optional<Error> write_concern_error;
};

// Returns true if the filter is {_id: value} and the value is neither a regular expression nor a
// document of operators. At most one document then matches, and the index on _id finds it.
bool is_by_id(bson::View filter);
// Return whether WriteBatch::brief can be set. The documents, or the statements of an update or a
// delete, must have at most 64 KiB in total. Each statement must also have a filter with
// is_by_id(), and must have no hint, no collation and no pipeline.
bool are_brief_documents(const std::vector<bson::View>& documents);
bool are_brief_statements(const std::vector<bson::View>& statements);

// Fails with InvalidLength (16) unless the number of statements is between 1 and
// kBatchStatementsMax.
Status check_batch_size(size_t statements);

// Runs the batch. Errors of single statements are in the result. Fails only if the command was
// interrupted, or if no transaction for the first statement could be begun. After an interruption,
// earlier statements may stay committed.
Result<BatchResult> run_batch(Call& call, const WriteBatch& batch);

// Appends n, writeErrors and writeConcernError, and for updates also upserted and nModified. Leaves
// out upserted and the errors if there are none. For an unacknowledged write, appends only n, and
// for updates nModified, with the value 0.
void append_batch_result(const Call& call, bson::Builder& reply, const BatchResult& result,
                         bool is_update);

}  // namespace gridmount::wire
