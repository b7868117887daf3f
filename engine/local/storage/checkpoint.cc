#include "engine/local/storage/checkpoint.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/thread_name.h"
#include "engine/local/files/fault_scope.h"
#include "engine/local/files/lmdb_error.h"

namespace gridmount::local {

using Clock = std::chrono::steady_clock;

namespace {

// Looking at what was freed costs a tenth of a small transaction, so several are counted at once:
// as many as make this part of what has a checkpoint taken, but no more than that.
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

uint64_t Checkpointer::newest_snapshot() const {
  MDB_envinfo info;
  mdb_env_info(env_, &info);
  return info.me_last_txnid;
}

uint64_t Checkpointer::growth_since(uint64_t last_page) const {
  MDB_envinfo info;
  MDB_stat stat;
  mdb_env_info(env_, &info);
  mdb_env_stat(env_, &stat);
  return info.me_last_pgno > last_page ? (info.me_last_pgno - last_page) * stat.ms_psize : 0;
}

// LMDB's list of free pages: under each transaction's number arrays that begin with their length.
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
  MDB_stat stat;
  mdb_env_stat(env_, &stat);
  return {pages * stat.ms_psize, up_to};
}

Status Checkpointer::pin() {
  // Both reader slots now: later there may be none left.
  for (Pin& pin : pins_) {
    if (const int code = pin.hold(env_); code != MDB_SUCCESS) {
      return fail(lmdb_error(code, "beginning to read the store"));
    }
  }
  pins_[1 - pinned_].release();
  if (!test_.pin) pins_[pinned_].release();
  const MutexLock lock(counting_);
  counted_to_ = newest_snapshot();
  return {};
}

Status Checkpointer::start() {
  GM_TRY(take());
  thread_ = std::thread([this] { run(); });
  return {};
}

Status Checkpointer::stop() {
  // A batch is not open any more afterwards, even an empty one.
  const Status settled = queue_.begin_exclusive();
  if (settled) queue_.end_exclusive();
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wanted_changed_.notify_all();
  }
  thread_.join();
  bool needed;
  {
    MutexLock lock(mutex_);
    needed = durable_snapshot_ != newest_snapshot();
  }
  Status stopped = [&]() -> Status {
    if (std::optional<Error> refusal = queue_.refusal()) return fail(std::move(*refusal));
    GM_TRY(settled);
    if (needed) GM_TRY(take());
    GM_TRY(check_place(folder_.data_in_place()));
    return check_place(folder_.owner_in_place());
  }();
  tell_refusal();
  return stopped;
}

Status Checkpointer::make_durable() {
  if (std::optional<Error> refusal = queue_.refusal()) return fail(std::move(*refusal));
  const Result<RedoLog::Outcome> outcome = log_.make_durable();
  if (!outcome) return fail(sync_failed(outcome.error()));
  if (*outcome == RedoLog::Outcome::kNeedsCheckpoint) return checkpoint();
  GM_TRY(check_place(folder_.data_in_place()));
  GM_TRY(check_place(folder_.owner_in_place()));
  if (!log_.has_begun_segment()) return {};
  MutexLock lock(mutex_);
  grown_ = true;
  wanted_changed_.notify_all();
  return {};
}

Status Checkpointer::checkpoint() {
  if (std::optional<Error> refusal = queue_.refusal()) return fail(std::move(*refusal));
  GM_TRY(queue_.settle());
  MutexLock lock(mutex_);
  if (durable_snapshot_ == newest_snapshot()) return {};
  const uint64_t request = ++wanted_;
  wanted_changed_.notify_all();
  while (taken_ < request) taken_changed_.wait(mutex_);
  // A later one's failure may be reported here too; it never hides one of ours.
  return last_;
}

// LMDB forgets a transaction's array only when the checkpoint after it is done, which counts first.
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
  // Who asks again within its own turn is refused it, and must not wait for itself.
  if (queue_.held_by_this_thread()) return;
  const bool waits = freed_since(freed_at_durable_) / kGarbageMax >= growth_bytes_;
  MutexLock lock(mutex_);
  if (!grown_) {
    grown_ = true;
    wanted_changed_.notify_all();
  }
  if (!waits) return;
  // For one, and not for room: if it fails, the write finds out why.
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

void Checkpointer::tell_refusal() {
  if (has_told_refusal_) return;
  const std::optional<Error> refusal = queue_.refusal();
  if (!refusal) return;
  has_told_refusal_ = true;
  spdlog::error("{}", refusal->message());
}

void Checkpointer::run() {
  name_this_thread("gm-checkpoint");
  while (true) {
    tell_refusal();
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
      // What is asked for from here on may come too late for the snapshot.
      answered = wanted_;
      if (answered == taken_ && durable_snapshot_ == newest_snapshot() && queue_.is_settled()) {
        grown_ = false;
        continue;
      }
    }
    // No lock: this waits for a writer's turn and for the disk.
    Status status = take();
    MutexLock lock(mutex_);
    taken_ = answered;
    grown_ = false;  // what has grown meanwhile the next writer sees
    last_ = std::move(status);
    taken_changed_.notify_all();
  }
}

// D1: with no writer at work, so the meta pages and the pinned snapshot are of one commit.
Result<MetaPair> Checkpointer::note_snapshot(Pin& pin) {
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
  // D7: LMDB leaves pages at the end out if they are free.
  GM_ASSIGN(const uint64_t size, folder_.data().size());
  if (size < metas.current.data_bytes()) GM_TRY(folder_.data().resize(metas.current.data_bytes()));
  return metas;
}

Status Checkpointer::take() {
  if (std::optional<Error> refusal = queue_.refusal()) return fail(std::move(*refusal));
  // A process that was killed while it read beside us would keep its snapshot's pages for ever.
  int gone = 0;
  (void)mdb_reader_check(env_, &gone);
  // Before the slot is written, which is of this file, and whoever opens the store would go by it.
  GM_TRY(check_place(folder_.data_in_place()));
  Pin& pin = pins_[1 - pinned_];
  GM_TRY(queue_.begin_exclusive());
  Result<MetaPair> metas = note_snapshot(pin);
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
  // D1: data first. Writers go on meanwhile; the pins keep both snapshots as they are.
  if (Status status = folder_.data().sync_data(); !status) {
    return fail(sync_failed(status.error()));
  }
  // D3: then the slot.
  if (auto failure = folder_.checkpoint().write(*metas)) {
    if (failure->sync) return fail(sync_failed(failure->error));
    pin.release();
    return fail(std::move(failure->error));
  }
  // D2: only now is the older snapshot no longer needed.
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
  // Now that the checkpoint has all: without a mark the next opening goes back to it.
  return check_place(folder_.owner_in_place());
}

Status Checkpointer::check_place(const Status& in_place) {
  if (in_place) return {};
  Error refusal(
      ErrorCode::kWritesRefused,
      "store " + folder_.path().string() + " takes no more writes: " + in_place.error().message());
  queue_.refuse(refusal);
  return fail(std::move(refusal));
}

// D8. The pins stay: the newest checkpoint, with its log, is what the next opening goes back to.
Error Checkpointer::sync_failed(const Error& cause) {
  Error refusal(ErrorCode::kWritesRefused,
                "store " + folder_.path().string() + " takes no more writes: " + cause.message() +
                    "; what was committed since it was last durable may be lost. Check the disk, "
                    "then reopen the store");
  queue_.refuse(refusal);
  // The log's sync may fail while a checkpoint's does.
  const MutexLock lock(failing_);
  // If this fails too, the mark says "open", and only another start of the machine would bring the
  // checkpoint back; there is no one left to tell.
  (void)folder_.mark(OwnerState::kFailed);
  return refusal;
}

}  // namespace gridmount::local
