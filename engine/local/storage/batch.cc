#include "engine/local/storage/batch.h"

#include <exception>
#include <string>
#include <utility>

#include "engine/base/invariant.h"
#include "engine/base/thread_name.h"
#include "engine/local/storage/lmdb_context.h"

namespace gridmount::local {

Batch::Batch(MDB_env* env, PendingFile pending, std::chrono::milliseconds time_max,
             std::function<void()> on_due)
    : env_(env), time_max_(time_max), on_due_(std::move(on_due)), pending_(std::move(pending)) {}

Batch::~Batch() {
  if (txn_ != nullptr) abort();
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    wanted_.notify_one();
  }
  thread_.join();
}

void Batch::allow() {
  try {
    thread_ = std::thread([this] { run(); });
    is_allowed_ = true;
  } catch (const std::exception&) {
    // Without a thread there are no batches, and each transaction has its own commit.
  }
}

void Batch::run() {
  name_this_thread("gm-batch");
  mutex_.lock();
  while (true) {
    while (job_ == nullptr && !stopping_) {
      if (!is_watched_) {
        wanted_.wait(mutex_);
      } else if (!wanted_.wait_for(mutex_, time_max_) && job_ == nullptr && is_watched_) {
        mutex_.unlock();
        on_due_();
        mutex_.lock();
      }
    }
    if (job_ == nullptr) break;
    const std::function<int()>* const job = job_;
    mutex_.unlock();
    const int code = (*job)();
    mutex_.lock();
    code_ = code;
    job_ = nullptr;
    is_watched_ = txn_ != nullptr;
    done_.notify_one();
  }
  mutex_.unlock();
}

int Batch::on_thread(const std::function<int()>& job) {
  if (std::this_thread::get_id() == thread_.get_id()) {
    const int code = job();
    const MutexLock lock(mutex_);
    is_watched_ = txn_ != nullptr;
    return code;
  }
  MutexLock lock(mutex_);
  job_ = &job;
  wanted_.notify_one();
  while (job_ != nullptr) done_.wait(mutex_);
  return code_;
}

int Batch::begin() {
  const int code = on_thread([this] { return begin_in_sequence(env_, &txn_); });
  if (code != MDB_SUCCESS) {
    txn_ = nullptr;
    return code;
  }
  if (is_empty()) {
    snapshot_ = mdb_txn_id(txn_) - 1;
    pending_.begin(snapshot_);
    begun_at_ = std::chrono::steady_clock::now();
  }
  // The records in `pending` count only for this snapshot.
  GM_INVARIANT("W11", mdb_txn_id(txn_) == snapshot_ + 1,
               "the batch of snapshot " + std::to_string(snapshot_));
  return code;
}

int Batch::commit() {
  return on_thread([this] { return commit_in_sequence(std::exchange(txn_, nullptr)); });
}

void Batch::abort() {
  on_thread([this] {
    MDB_txn* const txn = std::exchange(txn_, nullptr);
    if (!context_of(txn).interrupted) mdb_txn_abort(txn);
    return MDB_SUCCESS;
  });
}

void Batch::abandon() {
  txn_ = nullptr;
  const MutexLock lock(mutex_);
  is_watched_ = false;
}

bool Batch::add(const RedoChanges& changes) {
  const size_t bytes = changes_.bytes().size() + changes.bytes().size();
  if (!changes.is_complete() || !changes_.is_complete() || bytes > kChangesBytesMax ||
      !pending_.append(changes.bytes())) {
    return false;
  }
  changes_.append(changes);
  ++transactions_;
  GM_INVARIANT("D14", pending_.count() == static_cast<uint32_t>(transactions_),
               "the batch of snapshot " + std::to_string(snapshot_));
  return true;
}

void Batch::clear_changes() {
  changes_ = RedoChanges(kChangesBytesMax);
  transactions_ = 0;
}

bool Batch::is_full() const {
  return transactions_ >= kTransactionsMax || changes_.bytes().size() >= kChangesBytesMax / 8 * 7 ||
         std::chrono::steady_clock::now() - begun_at_ >= time_max_;
}

}  // namespace gridmount::local
