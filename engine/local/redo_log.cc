#include "engine/local/redo_log.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

namespace gridmount::local {
namespace {

size_t bytes_of(const RedoTransaction& transaction) {
  return kRedoTransactionHeaderBytes + transaction.changes.bytes().size();
}

}  // namespace

Status RedoLog::start(uint64_t bytes) {
  GM_TRY(file_.prepare(bytes));
  const MutexLock lock(mutex_);
  usable_ = file_.is_open();
  return {};
}

// What is committed from here on waits for a checkpoint: there is a gap before it (D10).
void RedoLog::leave_to_checkpoint() {
  waiting_.clear();
  waiting_bytes_ = 0;
}

void RedoLog::committed(std::list<RedoTransaction>& one) noexcept {
  const MutexLock lock(mutex_);
  newest_ = one.front().number;
  if (!usable_ || !one.front().changes.is_complete()) return;
  const size_t bytes = bytes_of(one.front());
  if (waiting_bytes_ + bytes > kWaitingBytesMax) return leave_to_checkpoint();
  waiting_bytes_ += bytes;
  waiting_.splice(waiting_.end(), one);
}

void RedoLog::checkpointed(uint64_t transaction) {
  const MutexLock lock(mutex_);
  checkpointed_ = transaction;
  durable_ = std::max(durable_, transaction);
  newest_ = std::max(newest_, transaction);
  while (!waiting_.empty() && waiting_.front().number <= transaction) {
    waiting_bytes_ -= bytes_of(waiting_.front());
    waiting_.pop_front();
  }
  written_.notify_all();
}

// D10: those directly behind what is durable, each directly behind the one before.
std::list<RedoTransaction> RedoLog::take_run() {
  std::list<RedoTransaction> run;
  uint64_t next = durable_ + 1;
  while (!waiting_.empty() && waiting_.front().number == next) {
    waiting_bytes_ -= bytes_of(waiting_.front());
    run.splice(run.end(), waiting_, waiting_.begin());
    ++next;
  }
  return run;
}

Result<RedoLog::Outcome> RedoLog::make_durable() {
  std::list<RedoTransaction> run;
  std::optional<RedoFile::Place> place;
  {
    const MutexLock lock(mutex_);
    const uint64_t target = newest_;
    while (writing_ && durable_ < target) written_.wait(mutex_);
    if (durable_ >= target) return Outcome::kDurable;
    if (!usable_) return Outcome::kNeedsCheckpoint;
    run = take_run();
    if (!run.empty() && run.back().number >= target) {
      place = file_.find_place(redo_record_bytes(run),
                               test_.waits_for_segments ? checkpointed_ : UINT64_MAX);
    }
    // Without a record of these there is none of those behind them.
    if (!place) return Outcome::kNeedsCheckpoint;
    writing_ = true;
  }
  return write(std::move(run), *place);
}

Result<RedoLog::Outcome> RedoLog::write(std::list<RedoTransaction> run,
                                        const RedoFile::Place& place) {
  const size_t segment = file_.current();
  std::optional<RedoFile::Failure> failure;
  try {
    // No lock: others commit meanwhile, and wait for the next record.
    failure = file_.append(place, run, test_.syncs_records);
  } catch (const std::bad_alloc&) {
    // Nothing is written yet.
    failure = RedoFile::Failure{Error(ErrorCode::kOperationFailed, "out of memory"), false};
  }
  const MutexLock lock(mutex_);
  writing_ = false;
  written_.notify_all();
  if (failure) {
    // A number may have been used (D12).
    usable_ = false;
    leave_to_checkpoint();
    if (failure->sync) return fail(std::move(failure->error));
    return Outcome::kNeedsCheckpoint;
  }
  // D9. A checkpoint may have come to more meanwhile.
  durable_ = std::max(durable_, run.back().number);
  if (file_.current() != segment) has_begun_segment_ = true;
  return Outcome::kDurable;
}

bool RedoLog::has_begun_segment() {
  const MutexLock lock(mutex_);
  return std::exchange(has_begun_segment_, false);
}

}  // namespace gridmount::local
