// Runs the many statements of one write command in few transactions. One commit for each statement
// would be slow. One transaction for all would keep other writers waiting for seconds.
//
// B1. Each statement is executed completely or not at all.
// B2. Everything that the result reports is committed when run_batch() returns.
// B3. If a transaction of several statements cannot be committed, or fails for a reason that is not
//     one statement's own (no space, too large), its statements run again one by one. Each
//     statement then gets its own result.
// B4. A statement that would spoil the version document (version_document.h) fails.
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
  bool ordered = true;  // the first failure ends the batch
  // The batch reads and writes little, so readers may wait for its transactions.
  bool brief = false;
  // Runs one statement. May be called again for a statement whose transaction was not committed.
  std::function<Result<StatementResult>(engine::Transaction&, size_t index)> run;
  std::function<size_t(size_t index)> bytes;  // roughly what a statement writes
  // For the profiler, which records each statement and its result. Null: it records the whole
  // command.
  std::function<bson::Document(size_t index)> shown;
  std::function<bson::Document(const StatementResult& result)> counts;
};

struct BatchResult {
  int64_t matched = 0;
  int64_t modified = 0;
  std::vector<std::pair<size_t, bson::Value>> upserted;
  std::vector<std::pair<size_t, Error>> errors;
  std::optional<Error> write_concern_error;
};

// Returns true if the filter is {_id: value}. It then matches at most one document, which the index
// on _id finds.
bool is_by_id(bson::View filter);
// Return true if the documents, or the statements of an update or a delete, are brief: few bytes in
// total. Statements must also select by _id and have neither a hint nor a pipeline.
bool are_brief_documents(const std::vector<bson::View>& documents);
bool are_brief_statements(const std::vector<bson::View>& statements);

// Fails with InvalidLength (16) unless the number of statements is between 1 and
// kBatchStatementsMax.
Status check_batch_size(size_t statements);

// Fails as a whole if the command was interrupted, or if the first transaction could not be
// started.
Result<BatchResult> run_batch(Call& call, const WriteBatch& batch);

// Appends n, for updates also upserted and nModified, writeErrors and writeConcernError. For an
// unacknowledged write it appends only n and nModified, both 0.
void append_batch_result(const Call& call, bson::Builder& reply, const BatchResult& result,
                         bool is_update);

}  // namespace gridmount::wire
