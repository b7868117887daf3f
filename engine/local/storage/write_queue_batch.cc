// The part of WriteQueue that deals with batches (W9 to W12).

#include <sys/resource.h>

#include <utility>

#include "engine/base/invariant.h"
#include "engine/local/files/lmdb_error.h"
#include "engine/local/storage/lmdb_context.h"
#include "engine/local/storage/lmdb_opening.h"
#include "engine/local/storage/write_queue.h"

namespace gridmount::local {

// Releases the write lock on every way out of a scope, exceptions included.
class WriteQueue::Releaser {
 public:
  explicit Releaser(WriteQueue& queue) : queue_(queue) {}
  ~Releaser() { queue_.release_lock(); }
  Releaser(const Releaser&) = delete;
  Releaser& operator=(const Releaser&) = delete;

 private:
  WriteQueue& queue_;
};

void WriteQueue::release_lock() {
  const MutexLock lock(mutex_);
  grant_to_next();
}

// Returns whether the commit of a batch has room under every limit: on the disk, of the store's
// size, of the map, and of the process's file size.
bool WriteQueue::has_room() {
  constexpr uint64_t kRoomBytes = SpaceReserve::kScarceBytes;
  if (room() != SpaceReserve::Room::kEnough) return false;
  MDB_envinfo info;
  mdb_env_info(env_, &info);
  const uint64_t needed = (info.me_last_pgno + 1) * page_bytes_of(env_) + kRoomBytes;
  struct rlimit limit {};
  return needed <= info.me_mapsize && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || needed <= limit.rlim_cur);
}

bool WriteQueue::wants_batch() {
  if (has_been_read_.exchange(false, std::memory_order_relaxed)) small_in_a_row_ = 0;
  if (!batch_.usable() || small_in_a_row_ < small_before_batch_ || is_dirty_ || !has_room()) {
    return false;
  }
  // If no batch can be begun, the transaction gets a commit of its own, which reports the cause.
  return batch_.begin() == MDB_SUCCESS;
}

WriteTransaction WriteQueue::write_in_batch(std::shared_ptr<WriteGroup> group) {
  WriteTransaction transaction(this, std::move(group), batch_.txn(), /*leader=*/true);
  transaction.in_batch_ = true;
  return transaction;
}

Status WriteQueue::commit_in_batch(WriteTransaction& transaction) {
  if (transaction.unchanged_) {
    abort_in_batch(transaction);
    return {};
  }
  refuse_if_unreadable();
  if (std::optional<Error> refused = refusal()) {
    abort_in_batch(transaction);
    return fail(std::move(*refused));
  }
  const bool is_said = transaction.changes_.has_value();
  const bool finds_room = has_room();
  // From here on a reader waits for the batch to be flushed.
  is_dirty_ = true;
  if (!is_said || !finds_room || !batch_.add(*transaction.changes_)) {
    return commit_batch_with(transaction);
  }
  const Releaser releaser(*this);
  log_.committed(mdb_txn_id(std::exchange(transaction.txn_, nullptr)),
                 std::move(*transaction.changes_));
  // This transaction is committed. If the batch's commit fails, the next thread gets the error.
  if (batch_.is_full() || is_flush_wanted()) (void)end_batch();
  return {};
}

// Upholds W10 for a transaction that `pending` does not have: LMDB commits it with the batch.
Status WriteQueue::commit_batch_with(WriteTransaction& transaction) {
  const Releaser releaser(*this);
  MDB_txn* const txn = std::exchange(transaction.txn_, nullptr);
  const uint64_t number = mdb_txn_id(txn);
  const bool releases = room() == SpaceReserve::Room::kNone && transaction.net_shrink_;
  const auto commit = [this] { return batch_.commit(); };
  int code = kOverSizeLimit;
  if (transaction.net_shrink_ || limit_.allows(txn)) {
    code = releases ? commit_with_reserve(commit) : commit();
  } else {
    batch_.abort();
  }
  small_in_a_row_ = 0;
  if (code != MDB_SUCCESS) {
    Status outcome = fail(callbacks_.commit_failed(code));
    (void)replay_batch();
    refuse_if_unreadable();
    return outcome;
  }
  batch_.clear_changes();
  if (!transaction.changes_) transaction.changes_.emplace().mark_incomplete();
  append_to_log(number, std::move(*transaction.changes_));
  flushed();
  refuse_if_unreadable();
  return {};
}

void WriteQueue::abort_in_batch(WriteTransaction& transaction) {
  const Releaser releaser(*this);
  MDB_txn* const txn = std::exchange(transaction.txn_, nullptr);
  refuse_if_unreadable();
  if (context_of(txn).interrupted) {
    batch_.abandon();
  } else if (transaction.ends_replay_) {
    // Nobody may write in this batch (W12).
    batch_.abort();
    return;
  } else if (!transaction.unchanged_ || is_broken(txn)) {
    batch_.abort();
    (void)replay_batch();
  }
  if (batch_.is_open() && (batch_.is_full() || is_flush_wanted())) (void)end_batch();
}

// Upholds W11. On success, the batch is open again, or has no changes.
Status WriteQueue::replay_batch() {
  if (batch_.is_empty()) {
    flushed();
    return {};
  }
  const auto make = [this]() -> Status {
    if (!batch_.changes().is_complete()) {
      return fail(ErrorCode::kOperationFailed, "there was not enough memory for the changes");
    }
    if (const int code = batch_.begin(); code != MDB_SUCCESS) {
      return fail(lmdb_error(code, "beginning to write to the store"));
    }
    return callbacks_.replay(batch_.changes().bytes(), batch_.txn());
  };
  Status made = make();
  if (made || !batch_.is_open()) return made;
  if (context_of(batch_.txn()).interrupted) {
    batch_.abandon();
    refuse_if_unreadable();
  } else {
    batch_.abort();
  }
  return made;
}

Status WriteQueue::end_batch() {
  if (!batch_.is_open() && !is_dirty_) return {};
  refuse_if_unreadable();
  const auto dirty = [this](Error error) -> Status {
    if (!is_dirty_) return {};
    return fail(std::move(error).with_context(
        "the last commits are not in data.mdb yet, so nothing can be read or written"));
  };
  if (batch_.is_open() && context_of(batch_.txn()).interrupted) batch_.abandon();
  // W12: try again, unless nothing may be written any more. A batch that is still open is committed
  // even then, so that readers can go on.
  if (!batch_.is_open()) {
    if (std::optional<Error> refused = refusal()) return dirty(std::move(*refused));
    if (Status made = replay_batch(); !made) return dirty(std::move(made).error());
    if (!batch_.is_open()) return {};
  }
  if (batch_.is_empty()) {
    batch_.abort();
    flushed();
    return {};
  }
  Status committed = commit_batch(room() != SpaceReserve::Room::kEnough);
  if (!committed && !refusal() && replay_batch()) committed = commit_batch(/*releases=*/true);
  if (!committed) return dirty(std::move(committed).error());
  return {};
}

Status WriteQueue::commit_batch(bool releases) {
  const auto commit = [this] { return batch_.commit(); };
  const int code = releases ? commit_with_reserve(commit) : commit();
  refuse_if_unreadable();
  if (code != MDB_SUCCESS) return fail(callbacks_.commit_failed(code));
  batch_.clear_changes();
  flushed();
  return {};
}

// Called by a thread that has got the write lock and does not write in the batch.
Status WriteQueue::end_batch_after_locking() {
  Status ended = end_batch();
  if (!ended) {
    release_lock();
    return ended;
  }
  GM_INVARIANT("W10", !batch_.is_open(), "the batch, when another writer has the lock");
  GM_INVARIANT("W12", !is_dirty_ && batch_.is_empty(),
               "the batch, when another writer has the lock");
  return {};
}

void WriteQueue::flushed() {
  const MutexLock lock(mutex_);
  is_dirty_ = false;
  if (flushing_ > 0) flushed_.notify_all();
  std::erase_if(waiters_, [](Waiter* waiter) {
    if (!waiter->reads_in_batch) return false;
    waiter->role = Role::kFlushed;
    waiter->wakes.notify_one();
    return true;
  });
}

bool WriteQueue::is_flush_wanted() {
  const MutexLock lock(mutex_);
  return flushing_ > 0;
}

// Runs on the batch's own thread. The holder of the write lock may be waiting for that thread, so
// this function must not wait for the lock.
void WriteQueue::batch_is_due() {
  {
    const MutexLock lock(mutex_);
    if (is_held_) return;
    is_held_ = true;
    holder_ = std::this_thread::get_id();
  }
  const Releaser releaser(*this);
  (void)end_batch();
}

// Waits until the batch is flushed or nobody holds the write lock. If nobody holds the lock, takes
// the lock and returns true. Returns false if the batch is flushed, or if this thread holds the
// lock already. Waits for the lock only while the batch is not flushed, because its holder then
// writes in the batch or is ending it. At any other time the holder may be waiting for this thread.
bool WriteQueue::lock_to_flush() {
  const MutexLock lock(mutex_);
  ++flushing_;
  while (is_dirty_ && is_held_ && holder_ != std::this_thread::get_id()) flushed_.wait(mutex_);
  --flushing_;
  if (!is_dirty_ || is_held_) return false;
  is_held_ = true;
  holder_ = std::this_thread::get_id();
  return true;
}

// Waits for the write lock while the batch is not flushed. At any other time its holder may be
// waiting for this thread. Returns whether this thread has got the lock.
Result<bool> WriteQueue::lock_to_read_in_batch() {
  Waiter waiter;
  // A reader cannot be a member of a group, so a group must end before the reader.
  waiter.exclusive = true;
  waiter.reads_in_batch = true;
  const MutexLock lock(mutex_);
  if (is_held_ && holder_ == std::this_thread::get_id()) {
    return fail(ErrorCode::kIllegalOperation,
                "this thread has begun a transaction; read in that one, or end it first");
  }
  if (!is_dirty_) return false;
  return wait_for_lock(waiter) == Role::kLeader;
}

Result<std::optional<WriteTransaction>> WriteQueue::begin_read_in_batch() {
  std::optional<WriteTransaction> none;
  if (!is_dirty_) return none;
  // Allocate before the lock is held, as begin() does.
  auto group = std::make_shared<WriteGroup>();
  GM_ASSIGN(const bool is_locked, lock_to_read_in_batch());
  if (!is_locked) return none;
  const auto is_readable = [this] {
    return batch_.is_open() && !context_of(batch_.txn()).interrupted;
  };
  const bool replays = !is_readable();
  if (replays) {
    // W12: try the commit again. If it fails, the changes can still be read in the transaction that
    // replays them.
    Status ended = end_batch();
    if (ended || !replay_batch() || !is_readable()) {
      release_lock();
      GM_TRY(ended);
      return none;
    }
  }
  WriteTransaction reading = write_in_batch(std::move(group));
  reading.unchanged();
  reading.ends_replay_ = replays;
  return std::optional(std::move(reading));
}

Status WriteQueue::flush() {
  if (!has_been_read_.load(std::memory_order_relaxed)) has_been_read_ = true;
  if (!is_dirty_) return {};
  if (lock_to_flush()) {
    const Releaser releaser(*this);
    return end_batch();
  }
  if (!is_dirty_ || !held_by_this_thread()) return {};
  return fail(ErrorCode::kIllegalOperation,
              "this thread has begun a transaction; read in that one, or end it first");
}

}  // namespace gridmount::local
