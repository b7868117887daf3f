#include "engine/local/storage/write_queue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/invariant.h"
#include "engine/local/files/fault_scope.h"
#include "engine/local/files/lmdb_error.h"
#include "engine/local/storage/lmdb_context.h"

namespace gridmount::local {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view kBeginning = "beginning to write to the store";

// Upholds W6: leaves an interrupted transaction alone.
void abort_unless_interrupted(MDB_txn* txn) {
  if (!context_of(txn).interrupted) mdb_txn_abort(txn);
}

// Upholds W8: if the changes of one transaction are missing, the log gets none of the group.
void add_changes(WriteGroup& group, std::optional<RedoChanges>& changes) {
  if (changes) {
    group.changes.append(*changes);
  } else {
    group.changes.mark_incomplete();
  }
}

}  // namespace

WriteQueue::WriteQueue(MDB_env* env, SpaceReserve& reserve, SizeLimit limit, RedoLog& log,
                       PendingFile pending, Callbacks callbacks, const TestOptions& test)
    : env_(env),
      reserve_(reserve),
      limit_(limit),
      log_(log),
      callbacks_(std::move(callbacks)),
      small_before_batch_(test.small_before_batch.value_or(kSmallBeforeBatch)),
      batch_(env, std::move(pending), test.batch_time_max.value_or(Batch::kTimeMax),
             [this] { batch_is_due(); }) {}

WriteQueue::Role WriteQueue::wait_for_lock(Waiter& waiter) {
  if (!is_held_) {
    // Each holder passes the lock on to the first waiter, so nobody waits in an idle queue.
    is_held_ = true;
    waiter.role = Role::kLeader;
  } else {
    waiters_.push_back(&waiter);
    while (waiter.role == Role::kWaiting) waiter.wakes.wait(mutex_);
    if (waiter.role == Role::kFlushed) return waiter.role;
  }
  holder_ = std::this_thread::get_id();
  return waiter.role;
}

void WriteQueue::grant_to_next() {
  GM_INVARIANT("W1", is_held_ && holder_ == std::this_thread::get_id(),
               "the write lock, which is handed to the next writer");
  GM_INVARIANT("W6", refusal_ || !context_of(env_).write_interrupted,
               "the write lock, which is handed to the next writer");
  holder_ = {};
  if (waiters_.empty()) {
    is_held_ = false;
    if (flushing_ > 0) flushed_.notify_all();
    return;
  }
  Waiter* next = waiters_.front();
  waiters_.pop_front();
  next->role = Role::kLeader;
  next->wakes.notify_one();
}

Result<WriteTransaction> WriteQueue::begin(engine::TransactionKind kind) {
  // Allocate before the lock is held, so that a failed allocation need not release the lock.
  auto group = std::make_shared<WriteGroup>();
  Waiter waiter;
  {
    MutexLock lock(mutex_);
    if (is_held_ && holder_ == std::this_thread::get_id()) {
      return fail(ErrorCode::kIllegalOperation,
                  "this thread already has a transaction; end it first");
    }
    if (refusal_) return fail(*refusal_);
    const Role role = wait_for_lock(waiter);
    if (refusal_) {
      if (role == Role::kMember) {
        member_done(*waiter.group);
      } else {
        grant_to_next();
      }
      return fail(*refusal_);
    }
  }
  if (waiter.role == Role::kMember) return join(std::move(waiter.group));
  if (kind == engine::TransactionKind::kShort && (batch_.is_open() || wants_batch())) {
    return write_in_batch(std::move(group));
  }
  if (kind != engine::TransactionKind::kShort) small_in_a_row_ = 0;
  GM_TRY(end_batch_after_locking());
  Result<WriteTransaction> leader = lead(std::move(group));
  if (leader) leader->kind_ = kind;
  return leader;
}

Result<WriteTransaction> WriteQueue::lead(std::shared_ptr<WriteGroup> group) {
  MDB_txn* txn = nullptr;
  const int code = begin_in_sequence(env_, &txn);
  if (code != MDB_SUCCESS) {
    refuse_if_unreadable();
    MutexLock lock(mutex_);
    grant_to_next();
    if (code == kLmdbStale && refusal_) return fail(*refusal_);
    return fail(lmdb_error(code, kBeginning));
  }
  group->txn = txn;
  return WriteTransaction(this, std::move(group), txn, /*leader=*/true);
}

Result<WriteTransaction> WriteQueue::join(std::shared_ptr<WriteGroup> group) {
  MDB_txn* txn = nullptr;
  const int code = mdb_txn_begin(env_, group->txn, 0, &txn);
  if (code != MDB_SUCCESS) {
    MutexLock lock(mutex_);
    member_done(*group);
    return fail(lmdb_error(code, kBeginning));
  }
  return WriteTransaction(this, std::move(group), txn, /*leader=*/false);
}

void WriteQueue::member_done(WriteGroup& group) {
  GM_INVARIANT("W1", group.member_working && holder_ == std::this_thread::get_id(),
               "the member of a group that ends");
  holder_ = {};
  group.member_working = false;
  group.leader_wakes.notify_one();
}

void WriteQueue::run_members(const std::shared_ptr<WriteGroup>& group) {
  const Clock::time_point end = Clock::now() + kGroupTimeMax;
  while (!refusal_ && !waiters_.empty() && !waiters_.front()->exclusive &&
         group->members < kGroupMembersMax && Clock::now() < end) {
    Waiter* next = waiters_.front();
    waiters_.pop_front();
    ++group->members;
    group->member_working = true;
    next->group = group;
    next->role = Role::kMember;
    next->wakes.notify_one();
    while (group->member_working) group->leader_wakes.wait(mutex_);
  }
  GM_INVARIANT("W4", group->members <= kGroupMembersMax,
               "a group of " + std::to_string(group->members) + " members");
}

Status WriteQueue::commit(WriteTransaction& transaction) {
  if (transaction.txn_ == nullptr) {
    return fail(ErrorCode::kIllegalOperation, "the transaction has ended already");
  }
  // If a broken nested transaction was committed, LMDB would break the leader's transaction too
  // (W2). In a broken leader's transaction no transaction can be nested (W3).
  if (!transaction.poison_ && is_broken(transaction.txn_)) {
    transaction.poison(lmdb_error(MDB_BAD_TXN, "committing to the store"));
  }
  if (transaction.poison_) {
    Error error = *transaction.poison_;
    abort(transaction);
    return fail(std::move(error));
  }
  if (transaction.in_batch_) return commit_in_batch(transaction);
  return transaction.leader_ ? commit_group(transaction) : commit_member(transaction);
}

Status WriteQueue::commit_group(WriteTransaction& transaction) {
  const std::shared_ptr<WriteGroup> group = std::move(transaction.group_);
  MDB_txn* const txn = std::exchange(transaction.txn_, nullptr);
  const SpaceReserve::Room room = this->room();
  add_changes(*group, transaction.changes_);
  const uint64_t number = mdb_txn_id(txn);
  bool refused;
  {
    MutexLock lock(mutex_);
    GM_INVARIANT("W1", holder_ == std::this_thread::get_id(), "a leader that commits");
    if (!waiters_.empty() && room == SpaceReserve::Room::kEnough) run_members(group);
    holder_ = std::this_thread::get_id();
  }
  refuse_if_unreadable();
  {
    MutexLock lock(mutex_);
    refused = refusal_.has_value();
  }
  // Commit without the mutex, so that other threads can queue meanwhile. This thread still
  // holds the write lock.
  int code = MDB_SUCCESS;
  if (refused) {
    abort_unless_interrupted(txn);
  } else if (!transaction.net_shrink_ && !limit_.allows(txn)) {
    abort_unless_interrupted(txn);
    code = kOverSizeLimit;
  } else if (room == SpaceReserve::Room::kNone && transaction.net_shrink_) {
    code = commit_with_reserve([txn] { return commit_in_sequence(txn); });
  } else {
    code = commit_in_sequence(txn);
  }
  std::optional<Error> error;
  if (code != MDB_SUCCESS) error = callbacks_.commit_failed(code);
  if (code == MDB_SUCCESS && !refused) {
    const bool small =
        group->changes.is_complete() && transaction.kind_ == engine::TransactionKind::kShort;
    small_in_a_row_ = small ? small_in_a_row_ + 1 : 0;
    append_to_log(number, std::move(group->changes));
  }
  refuse_if_unreadable();

  MutexLock lock(mutex_);
  if (refused) error = *refusal_;
  group->finished = true;
  group->error = error;
  if (!error) ++counts_.commits;
  if (group->members > 0) group->finished_wakes.notify_all();
  grant_to_next();
  if (error) return fail(std::move(*error));
  return {};
}

void WriteQueue::append_to_log(uint64_t number, RedoChanges changes) {
  MDB_envinfo info;
  mdb_env_info(env_, &info);
  // If a transaction has changed nothing, LMDB gives its number to the next transaction, and the
  // log gets nothing.
  if (info.me_last_txnid == number) log_.committed(number, std::move(changes));
}

SpaceReserve::Room WriteQueue::room() {
  const SpaceReserve::Room room = std::max(reserve_.room(), limit_.room());
  is_short_of_room_ = room != SpaceReserve::Room::kEnough;
  return room;
}

int WriteQueue::commit_with_reserve(const std::function<int()>& commit) {
  MDB_envinfo before;
  MDB_envinfo after;
  mdb_env_info(env_, &before);
  // If only the size limit leaves no room, the disk does not need the reserve.
  const bool releases = reserve_.room() != SpaceReserve::Room::kEnough ||
                        limit_.room() == SpaceReserve::Room::kEnough;
  if (releases) reserve_.release();
  const int code = commit();
  mdb_env_info(env_, &after);
  const bool grown = after.me_last_pgno > before.me_last_pgno;
  if (releases) {
    reserve_.refill(grown);
  } else if (grown) {
    reserve_.want_checkpoint();
  }
  return code;
}

Status WriteQueue::commit_member(WriteTransaction& transaction) {
  const std::shared_ptr<WriteGroup> group = std::move(transaction.group_);
  const int code = commit_guarded(std::exchange(transaction.txn_, nullptr));
  if (code == MDB_SUCCESS) add_changes(*group, transaction.changes_);
  MutexLock lock(mutex_);
  member_done(*group);
  if (code != MDB_SUCCESS) return fail(lmdb_error(code, "committing to the store"));
  while (!group->finished) group->finished_wakes.wait(mutex_);
  if (group->error) return fail(*group->error);
  ++counts_.members;
  return {};
}

void WriteQueue::abort(WriteTransaction& transaction) {
  if (transaction.in_batch_) return abort_in_batch(transaction);
  abort_unless_interrupted(std::exchange(transaction.txn_, nullptr));
  refuse_if_unreadable();
  const std::shared_ptr<WriteGroup> group = std::move(transaction.group_);
  if (!transaction.leader_) {
    GM_INVARIANT("W2", context_of(env_).interrupted || !is_broken(group->txn),
                 "a leader whose member has failed");
  }
  MutexLock lock(mutex_);
  if (transaction.leader_) {
    GM_INVARIANT("W3", group->members == 0, "a leader that fails");
    grant_to_next();
  } else {
    member_done(*group);
  }
}

Status WriteQueue::begin_exclusive() {
  Waiter waiter;
  waiter.exclusive = true;
  {
    MutexLock lock(mutex_);
    wait_for_lock(waiter);
  }
  return end_batch_after_locking();
}

void WriteQueue::end_exclusive() {
  release_lock();
}

void WriteQueue::refuse(Error error) {
  MutexLock lock(mutex_);
  if (!refusal_) refusal_ = std::move(error);
}

void WriteQueue::refuse_if_unreadable() {
  if (std::optional<Error> unreadable = callbacks_.found_unreadable())
    refuse(std::move(*unreadable));
}

std::optional<Error> WriteQueue::refusal() const {
  if (std::optional<Error> unreadable = callbacks_.found_unreadable()) return unreadable;
  MutexLock lock(mutex_);
  return refusal_;
}

bool WriteQueue::held_by_this_thread() const {
  MutexLock lock(mutex_);
  return is_held_ && holder_ == std::this_thread::get_id();
}

WriteQueue::Counts WriteQueue::counts() const {
  MutexLock lock(mutex_);
  return counts_;
}

void WriteTransaction::swap(WriteTransaction& other) noexcept {
  std::swap(queue_, other.queue_);
  std::swap(group_, other.group_);
  std::swap(txn_, other.txn_);
  std::swap(leader_, other.leader_);
  std::swap(in_batch_, other.in_batch_);
  std::swap(ends_replay_, other.ends_replay_);
  std::swap(unchanged_, other.unchanged_);
  std::swap(kind_, other.kind_);
  std::swap(poison_, other.poison_);
  std::swap(net_shrink_, other.net_shrink_);
  std::swap(changes_, other.changes_);
}

WriteTransaction::~WriteTransaction() {
  if (txn_ != nullptr) queue_->abort(*this);
}

Status WriteTransaction::commit() {
  if (queue_ == nullptr) {
    return fail(ErrorCode::kIllegalOperation, "the transaction was never begun");
  }
  WriteQueue& queue = *queue_;
  const bool shrinks = net_shrink_;
  GM_TRY(queue.commit(*this));
  if (shrinks) queue.count_shrink();
  return {};
}

}  // namespace gridmount::local
