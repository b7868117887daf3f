// Many statements of one write command, in few transactions: not one commit each, and not one
// transaction that keeps the other writers waiting for seconds.
//
//  B1. Each statement happens wholly or not at all.
//  B2. What the result tells is committed when run_batch() returns.
//  B3. Where a transaction of several statements cannot be committed, or fails for a reason that is
//      not the statement's own (no space, too large), its statements are run again one by one, so
//      that each gets what is its own.
//
// Thread-safety: functions without state.
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
  int64_t matched = 0;  // inserted, matched or removed
  int64_t modified = 0;
  std::optional<bson::Value> upserted_id = {};
};

struct Batch {
  size_t statements = 0;
  bool ordered = true;  // the first failure ends it
  // It writes little and looks for little: readers may wait for its transactions.
  bool brief = false;
  // May be called again for a statement whose transaction was not committed.
  std::function<Result<StatementResult>(engine::Transaction&, size_t index)> run;
  std::function<size_t(size_t index)> bytes;  // about what a statement writes
  // For the profiler, which is told of each statement and what came of it. Null: of the command.
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

// Whether the filter is {_id: value}, and so finds a document at most, by the index on _id.
bool is_by_id(bson::View filter);
// Whether documents, or statements of an update or a delete, are brief: in all of few bytes, and
// the statements by _id, without a hint that leads elsewhere and without a pipeline.
bool are_brief_documents(const std::vector<bson::View>& documents);
bool are_brief_statements(const std::vector<bson::View>& statements);

// InvalidLength (16) unless there is something to do, and not too much.
Status check_batch_size(size_t statements);

// An error for the whole command if it was interrupted, or if nothing could be begun.
Result<BatchResult> run_batch(Call& call, const Batch& batch);

// n, upserted and nModified for updates, writeErrors, writeConcernError. Where no acknowledgement
// was asked for (w: 0) nothing is told: n and nModified are 0, whatever was done.
void append_batch_result(const Call& call, bson::Builder& reply, const BatchResult& result,
                         bool is_update);

}  // namespace gridmount::wire
