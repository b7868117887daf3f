#include "engine/local/storage/redo_log.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/invariant.h"

namespace gridmount::local {
namespace {

size_t bytes_of(const RedoTransaction& transaction) {
  return kRedoTransactionHeaderBytes + transaction.changes.bytes().size();
}

}  // namespace

Status RedoLog::start(uint64_t bytes) {
  GM_TRY(file_.prepare(bytes));
  const MutexLock lock(mutex_);
  GM_INVARIANT("D12", durable_ == newest_,
               "a log that begins after commit " + std::to_string(newest_));
  usable_ = file_.is_open();
  return {};
}

// Drops the waiting transactions. This leaves a gap, so later commits need a checkpoint, too (D10).
void RedoLog::drop_waiting() {
  waiting_.clear();
  waiting_bytes_ = 0;
  first_waiting_ = newest_ + 1;
}

void RedoLog::committed(uint64_t transaction, RedoChanges changes) noexcept {
  const MutexLock lock(mutex_);
  ++newest_;
  // A commit that was not passed to the log would be a gap. The transactions of a batch have one
  // number.
  GM_INVARIANT("W8",
               transaction_ == 0 || transaction == transaction_ || transaction == transaction_ + 1,
               "transaction " + std::to_string(transaction));
  transaction_ = transaction;
  if (!usable_ || !changes.is_complete()) return drop_waiting();
  try {
    waiting_.push_back({transaction, std::move(changes)});
  } catch (const std::bad_alloc&) {
    return drop_waiting();
  }
  waiting_bytes_ += bytes_of(waiting_.back());
  if (waiting_bytes_ > kWaitingBytesMax) drop_waiting();
}

void RedoLog::checkpoint_begins() {
  const MutexLock lock(mutex_);
  at_checkpoint_ = newest_;
}

void RedoLog::checkpointed(uint64_t transaction) {
  const MutexLock lock(mutex_);
  GM_INVARIANT("D3", transaction >= checkpointed_,
               "the slot of transaction " + std::to_string(transaction));
  checkpointed_ = transaction;
  durable_ = std::max(durable_, at_checkpoint_);
  while (!waiting_.empty() && first_waiting_ <= durable_) {
    waiting_bytes_ -= bytes_of(waiting_.front());
    waiting_.pop_front();
    ++first_waiting_;
  }
  written_.notify_all();
}

std::list<RedoTransaction> RedoLog::take_waiting() {
  waiting_bytes_ = 0;
  first_waiting_ = newest_ + 1;
  return std::exchange(waiting_, {});
}

Result<RedoLog::Outcome> RedoLog::make_durable() {
  std::list<RedoTransaction> run;
  std::optional<RedoFile::Extent> extent;
  uint64_t last = 0;
  {
    const MutexLock lock(mutex_);
    const uint64_t target = newest_;
    while (writing_ && durable_ < target) written_.wait(mutex_);
    if (durable_ >= target) return Outcome::kDurable;
    // D10: a record must begin directly after what is durable.
    if (!usable_ || first_waiting_ != durable_ + 1) return Outcome::kNeedsCheckpoint;
    last = newest_;
    run = take_waiting();
    GM_INVARIANT("D10", run.size() == last - durable_,
                 "a record that ends with commit " + std::to_string(last));
    extent = file_.reserve(redo_record_bytes(run),
                           test_.waits_for_segments ? checkpointed_ : UINT64_MAX);
    // The commits of `run` get no record, so later commits need a checkpoint, too (D10).
    if (!extent) return Outcome::kNeedsCheckpoint;
    writing_ = true;
  }
  return write(std::move(run), last, *extent);
}

Result<RedoLog::Outcome> RedoLog::write(std::list<RedoTransaction> run, uint64_t last,
                                        const RedoFile::Extent& extent) {
  const size_t segment = file_.current();
  std::optional<RedoFile::Failure> failure;
  try {
    // Do not hold the lock, so that other threads can commit meanwhile and wait for the next
    // record.
    failure = file_.append(extent, run, test_.syncs_records);
  } catch (const std::bad_alloc&) {
    // append() allocates before it writes, so nothing was written.
    failure = RedoFile::Failure{Error(ErrorCode::kOperationFailed, "out of memory"), false};
  }
  const MutexLock lock(mutex_);
  GM_INVARIANT("D9", writing_, "the record that ends with commit " + std::to_string(last));
  writing_ = false;
  written_.notify_all();
  if (failure) {
    // The failed record's number may be in the file and must not be used twice (D12).
    usable_ = false;
    drop_waiting();
    if (failure->sync) return fail(std::move(failure->error));
    return Outcome::kNeedsCheckpoint;
  }
  // D9. A checkpoint may have made later commits durable meanwhile.
  durable_ = std::max(durable_, last);
  if (file_.current() != segment) has_begun_segment_ = true;
  return Outcome::kDurable;
}

bool RedoLog::has_begun_segment() {
  const MutexLock lock(mutex_);
  return std::exchange(has_begun_segment_, false);
}

}  // namespace gridmount::local
