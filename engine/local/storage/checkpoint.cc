#include "engine/local/storage/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "engine/base/invariant.h"
#include "engine/base/log.h"
#include "engine/base/thread_name.h"
#include "engine/local/files/fault_scope.h"
#include "engine/local/files/lmdb_error.h"
#include "engine/local/storage/lmdb_opening.h"

namespace gridmount::local {

namespace {

using Clock = std::chrono::steady_clock;

// Counting the pages that a transaction has freed takes a tenth of the time of a small transaction.
// So the pages of several transactions are counted at once: of as many as probably free one part in
// kPartsCounted of options.checkpoint_bytes, but of at most kCountedAtOnce.
constexpr uint64_t kPartsCounted = 16;
constexpr uint64_t kCountedAtOnce = 64;

}  // namespace

int Checkpointer::Pin::hold(MDB_env* env) {
  return txn_ == nullptr ? mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn_) : mdb_txn_renew(txn_);
}

Checkpointer::Checkpointer(StoreFolder& folder, WriteQueue& queue, RedoLog& log, MDB_env* env,
                           const OpenOptions& options, const TestOptions& test)
    : folder_(folder),
      queue_(queue),
      log_(log),
      env_(env),
      interval_(std::max(options.checkpoint_interval, std::chrono::milliseconds(1))),
      growth_bytes_(options.checkpoint_bytes),
      test_(test) {}

Checkpointer::~Checkpointer() {
  if (thread_.joinable()) (void)stop();
}

bool Checkpointer::is_durable() const {
  const MutexLock lock(mutex_);
  return durable_snapshot_ == newest_snapshot();
}

uint64_t Checkpointer::newest_snapshot() const {
  MDB_envinfo info;
  mdb_env_info(env_, &info);
  return info.me_last_txnid;
}

uint64_t Checkpointer::growth_since(uint64_t last_page) const {
  MDB_envinfo info;
  mdb_env_info(env_, &info);
  return info.me_last_pgno > last_page ? (info.me_last_pgno - last_page) * page_bytes_of(env_) : 0;
}

// LMDB's list of free pages has an array for each transaction number. The array begins with its
// length.
Checkpointer::Freed Checkpointer::freed_after(uint64_t transaction) const {
  constexpr MDB_dbi kFreeTree = 0;
  MDB_txn* txn = nullptr;
  if (mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn) != MDB_SUCCESS) return {0, transaction};
  const uint64_t up_to = mdb_txn_id(txn);
  MDB_cursor* cursor = nullptr;
  uint64_t pages = 0;
  if (mdb_cursor_open(txn, kFreeTree, &cursor) == MDB_SUCCESS) {
    MDB_val key;
    MDB_val value;
    const auto move = [&](MDB_cursor_op to) {
      value = MDB_val{};
      const int code = guarded([&] { return mdb_cursor_get(cursor, &key, &value, to); });
      return code == MDB_SUCCESS && value.mv_data != nullptr;
    };
    for (bool found = move(MDB_LAST); found; found = move(MDB_PREV)) {
      size_t freed_by = 0;
      std::memcpy(&freed_by, key.mv_data, std::min(key.mv_size, sizeof freed_by));
      if (freed_by <= transaction) break;
      size_t count = 0;
      std::memcpy(&count, value.mv_data, std::min(value.mv_size, sizeof count));
      pages += count;
    }
    mdb_cursor_close(cursor);
  }
  mdb_txn_abort(txn);
  return {pages * page_bytes_of(env_), up_to};
}

Status Checkpointer::pin() {
  // Take both slots in the table of readers now, because later none may be free.
  for (Pin& pin : pins_) {
    if (const int code = pin.hold(env_); code != MDB_SUCCESS) {
      return fail(lmdb_error(code, "beginning to read the store"));
    }
  }
  pins_[1 - pinned_].release();
  if (test_.pin) {
    pinned_snapshot_ = pins_[pinned_].snapshot();
  } else {
    pins_[pinned_].release();
  }
  const MutexLock lock(counting_);
  counted_to_ = newest_snapshot();
  return {};
}

// Upholds D15: the snapshot from which the batch began is durable before the batch is replayed.
Status Checkpointer::take_first() {
  GM_TRY(take());
  GM_INVARIANT("D15", is_durable(), "store " + folder_.path().string());
  return {};
}

Status Checkpointer::start() {
  GM_TRY(take());
  GM_INVARIANT("D13", is_durable(), "store " + folder_.path().string());
  GM_INVARIANT("D12", folder_.has_own_slot(), "the first slot of " + folder_.path().string());
  thread_ = std::thread([this] { run(); });
  return {};
}

Status Checkpointer::stop() {
  // Taking the write lock exclusively ends any batch, even an empty one.
  const Status flushed = queue_.begin_exclusive();
  if (flushed) queue_.end_exclusive();
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wanted_changed_.notify_all();
  }
  thread_.join();
  const bool needed = !is_durable();
  Status stopped = [&]() -> Status {
    if (std::optional<Error> refusal = queue_.refusal()) return fail(std::move(*refusal));
    GM_TRY(flushed);
    if (needed) GM_TRY(take());
    GM_INVARIANT("D4", is_durable(), "store " + folder_.path().string());
    GM_TRY(check_in_place(folder_.data_in_place()));
    return check_in_place(folder_.owner_in_place());
  }();
  report_refusal();
  return stopped;
}

Status Checkpointer::make_durable() {
  if (std::optional<Error> refusal = queue_.refusal()) return fail(std::move(*refusal));
  const Result<RedoLog::Outcome> outcome = log_.make_durable();
  if (!outcome) return fail(sync_failed(outcome.error()));
  if (*outcome == RedoLog::Outcome::kNeedsCheckpoint) return checkpoint();
  GM_TRY(check_in_place(folder_.data_in_place()));
  GM_TRY(check_in_place(folder_.owner_in_place()));
  if (!log_.has_begun_segment()) return {};
  MutexLock lock(mutex_);
  grown_ = true;
  wanted_changed_.notify_all();
  return {};
}

Status Checkpointer::checkpoint() {
  if (std::optional<Error> refusal = queue_.refusal()) return fail(std::move(*refusal));
  GM_TRY(queue_.flush());
  MutexLock lock(mutex_);
  const uint64_t newest = newest_snapshot();
  if (durable_snapshot_ == newest) return {};
  const uint64_t request = ++wanted_;
  wanted_changed_.notify_all();
  while (taken_ < request) taken_changed_.wait(mutex_);
  GM_INVARIANT("S4", !last_ || durable_snapshot_ >= newest,
               "transaction " + std::to_string(newest) + " of " + folder_.path().string());
  // last_ may be the result of a later checkpoint. If the later checkpoint has succeeded, the
  // commits of this request are durable, even if their own checkpoint has failed.
  return last_;
}

// LMDB removes a transaction's array only after the next checkpoint is done. That checkpoint counts
// the array before, so no array is missed.
uint64_t Checkpointer::count_freed() {
  const MutexLock lock(counting_);
  const Freed more = freed_after(counted_to_);
  if (more.up_to <= counted_to_) return freed_;
  freed_ += more.bytes;
  const uint64_t bytes_each = more.bytes / (more.up_to - counted_to_) + 1;
  counted_to_ = more.up_to;
  count_at_ = counted_to_ +
              std::clamp(growth_bytes_ / kPartsCounted / bytes_each, uint64_t{1}, kCountedAtOnce);
  return freed_;
}

void Checkpointer::make_room() {
  if (newest_snapshot() >= count_at_) (void)count_freed();
  const bool has_grown = growth_since(begun_at_page_) >= growth_bytes_;
  if (!has_grown && freed_since(freed_at_begun_) < growth_bytes_) return;
  // A holder of the write lock must not wait for a checkpoint, because the checkpoint would wait
  // for that lock. WriteQueue::begin() then fails anyway.
  if (queue_.held_by_this_thread()) return;
  const bool waits = freed_since(freed_at_durable_) / kGarbageMax >= growth_bytes_;
  MutexLock lock(mutex_);
  if (!grown_) {
    grown_ = true;
    wanted_changed_.notify_all();
  }
  if (!waits) return;
  // Wait for one checkpoint, even if it fails: the write that follows reports the cause.
  const uint64_t request = ++wanted_;
  while (taken_ < request && !stopping_) taken_changed_.wait(mutex_);
}

uint64_t Checkpointer::freed_since_checkpoint() {
  const uint64_t begun = freed_at_begun_;
  return count_freed() - begun;
}

std::chrono::milliseconds Checkpointer::since_last() const {
  MutexLock lock(mutex_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - last_time_);
}

void Checkpointer::report_refusal() {
  if (has_told_refusal_) return;
  const std::optional<Error> refusal = queue_.refusal();
  if (!refusal) return;
  has_told_refusal_ = true;
  log::error("{}", refusal->message());
}

void Checkpointer::run() {
  name_this_thread("gm-checkpoint");
  while (true) {
    report_refusal();
    uint64_t answered;
    {
      MutexLock lock(mutex_);
      const Clock::time_point due = Clock::now() + interval_;
      while (!stopping_ && !grown_ && wanted_ == taken_) {
        const Clock::duration left = due - Clock::now();
        if (left <= Clock::duration::zero()) break;
        wanted_changed_.wait_for(mutex_, left);
      }
      if (stopping_ && wanted_ == taken_) return;
      // Requests from here on may be too late for the snapshot, so the next checkpoint answers
      // them.
      answered = wanted_;
      if (answered == taken_ && durable_snapshot_ == newest_snapshot() && queue_.is_flushed()) {
        grown_ = false;
        continue;
      }
    }
    // take() waits for the write lock and for the disk, so do not hold the mutex.
    Status status = take();
    MutexLock lock(mutex_);
    taken_ = answered;
    grown_ = false;  // if data.mdb has grown meanwhile, the next writer sets it again
    last_ = std::move(status);
    taken_changed_.notify_all();
  }
}

// Upholds D1: no writer is at work, so the meta pages and the pinned snapshot are of one commit.
Result<MetaPair> Checkpointer::record_snapshot(Pin& pin) {
  if (const int code = pin.hold(env_); code != MDB_SUCCESS) {
    return fail(lmdb_error(code, "taking a checkpoint"));
  }
  GM_ASSIGN(const MetaPair metas, read_meta_pair(folder_.data()));
  if (metas.current.txn != pin.snapshot()) {
    queue_.refuse(Error(ErrorCode::kWritesRefused,
                        "store " + folder_.path().string() +
                            " takes no more writes: data.mdb's meta pages are of transaction " +
                            std::to_string(metas.current.txn) + ", not " +
                            std::to_string(pin.snapshot()) +
                            "; another program has written to it, or its file system does not show "
                            "what was written there"));
    return fail(*queue_.refusal());
  }
  // D7: LMDB does not write free pages at the end of the file, so extend it.
  GM_ASSIGN(const uint64_t size, folder_.data().size());
  if (size < metas.current.data_bytes()) GM_TRY(folder_.data().resize(metas.current.data_bytes()));
  return metas;
}

Status Checkpointer::take() {
  if (std::optional<Error> refusal = queue_.refusal()) return fail(std::move(*refusal));
  // Release the snapshots of killed processes. A process that was killed while it read beside the
  // owner would otherwise keep the pages of its snapshot for ever.
  int gone = 0;
  (void)mdb_reader_check(env_, &gone);
  // Check this before the slot is written. The slot describes this data.mdb. The next opening would
  // apply the slot to the file that has replaced this data.mdb.
  GM_TRY(check_in_place(folder_.data_in_place()));
  Pin& pin = pins_[1 - pinned_];
  GM_TRY(queue_.begin_exclusive());
  Result<MetaPair> metas = record_snapshot(pin);
  log_.checkpoint_begins();
  queue_.end_exclusive();
  if (!metas) {
    pin.release();
    if (std::optional<Error> refusal = queue_.refusal()) return fail(std::move(*refusal));
    return fail(std::move(metas).error());
  }
  begun_at_page_ = metas->current.last_page;
  const uint64_t freed = count_freed();
  freed_at_begun_ = freed;
  GM_INVARIANT("D8", !sync_failed_, folder_.data_path().string());
  // D1: sync the data first. Writers go on meanwhile. The pins keep both snapshots intact.
  if (Status status = folder_.data().sync_data(); !status) {
    sync_failed_ = true;
    return fail(sync_failed(status.error()));
  }
  // D3: then write the slot.
  if (auto failure = folder_.checkpoint().write(*metas)) {
    if (failure->sync) return fail(sync_failed(failure->error));
    pin.release();
    return fail(std::move(failure->error));
  }
  // D2: only now is the older snapshot no longer needed.
  GM_INVARIANT("D2", pin.snapshot() == metas->current.txn,
               "the pin of transaction " + std::to_string(pin.snapshot()) + " in " +
                   folder_.path().string());
  if (test_.pin) pinned_snapshot_ = pin.snapshot();
  pins_[pinned_].release();
  pinned_ = 1 - pinned_;
  if (!test_.pin) pins_[pinned_].release();
  freed_at_durable_ = freed;
  log_.checkpointed(metas->current.txn);
  {
    MutexLock lock(mutex_);
    durable_snapshot_ = metas->current.txn;
    last_time_ = Clock::now();
  }
  // Check this after the slot is written: if `owner` was replaced, the next opening finds no mark
  // and goes back to the slot.
  return check_in_place(folder_.owner_in_place());
}

Status Checkpointer::check_in_place(const Status& in_place) {
  if (in_place) return {};
  Error refusal(
      ErrorCode::kWritesRefused,
      "store " + folder_.path().string() + " takes no more writes: " + in_place.error().message());
  queue_.refuse(refusal);
  return fail(std::move(refusal));
}

// Upholds D8. The pins stay, because the next opening goes back to the newest checkpoint and its
// log.
Error Checkpointer::sync_failed(const Error& cause) {
  Error refusal(ErrorCode::kWritesRefused, "store " + folder_.path().string() +
                                               " takes no more writes: " + cause.message() +
                                               "; commits since the store was last durable may be "
                                               "lost. Check the disk, then reopen the store");
  queue_.refuse(refusal);
  // A sync of the log and one of a checkpoint may fail at the same time.
  const MutexLock lock(failing_);
  // If this fails too, the mark stays `open`, so an opening goes back to the checkpoint only after
  // a restart of the machine. Nothing more can be done about that.
  (void)folder_.mark(OwnerState::kFailed);
  return refusal;
}

}  // namespace gridmount::local
