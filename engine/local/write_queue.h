// The line of writers, and the commits they share.
//
// One turn at a time: a turn is a write transaction, or exclusive (the checkpointer noting a
// snapshot, with no transaction open). Turns are given in the order they were asked for.
//
//  W1. The first writer of a group, its leader, has the LMDB transaction. The others, its members,
//      each get a nested transaction after the leader has called commit(), one after the other.
//  W2. A member's failure ends its nested transaction and nothing else.
//  W3. A leader that fails does so before there are members, so it takes no one with it; the next
//      in the line becomes a leader.
//  W4. A group ends when no writer waits, an exclusive turn is next in the line, the disk has
//      little room, or it has kGroupMembersMax members or is kGroupTimeMax old. Then the leader
//      commits, and every member's commit() returns what came of it.
//  W5. After refuse(), no turn is given and no group commits.
//  W6. Where a fault has interrupted a call that writes, LMDB's transaction is neither used nor
//      ended any more, and its writer lock stays held: before the turn passes on, refuse().
//  W7. On a full disk a leader whose transaction leaves less than there was has the reserve
//      (space_reserve.h) for its commit.
//  W8. What a group has changed the log is told after its commit, before another turn is given: the
//      leader's changes, then each member's that has committed. If one has not said what it
//      changed, the group has not.
//
// LMDB's writer lock belongs to a thread; the leader's begins and ends it. Members use the leader's
// transaction from their own threads while the leader waits in commit().
//
// Thread-safety: thread-safe; a turn belongs to the thread that got it.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <thread>

#include "engine/error.h"
#include "engine/local/environment.h"
#include "engine/local/redo_log.h"
#include "engine/local/space_reserve.h"
#include "engine/thread_safety.h"

namespace gridmount::local {

// What a leader and its members share; guarded by the queue's mutex.
struct WriteGroup {
  MDB_txn* txn = nullptr;  // the leader's
  // W8: one. Whose turn it is has it.
  std::list<RedoTransaction> changes = std::list<RedoTransaction>(1);
  int members = 0;
  bool member_working = false;
  Condition leader_wakes;
  bool finished = false;
  Condition finished_wakes;
  std::optional<Error> error;  // of the commit
};

class WriteQueue {
 public:
  static constexpr int kGroupMembersMax = 64;
  static constexpr std::chrono::milliseconds kGroupTimeMax{10};

  // `commit_failed` turns the code of a failed commit into its error. `found_unreadable` says
  // before each write and each commit whether nothing may be written any more. `reserve` and `log`
  // outlive this.
  WriteQueue(MDB_env* env, SpaceReserve& reserve, RedoLog& log,
             std::function<Error(int code)> commit_failed,
             std::function<std::optional<Error>()> found_unreadable);
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  Result<WriteTransaction> begin() GM_EXCLUDES(mutex_);

  // Waits for an exclusive turn; end_exclusive() ends it.
  void begin_exclusive() GM_EXCLUDES(mutex_);
  void end_exclusive() GM_EXCLUDES(mutex_);

  // All later begin() and unfinished commits fail with this error. The first one stays.
  void refuse(Error error) GM_EXCLUDES(mutex_);
  std::optional<Error> refusal() const GM_EXCLUDES(mutex_);

  // The calling thread has the turn.
  bool held_by_this_thread() const GM_EXCLUDES(mutex_);

  struct Counts {
    uint64_t commits = 0;  // LMDB's
    uint64_t members = 0;  // transactions committed with another's
  };
  Counts counts() const GM_EXCLUDES(mutex_);

 private:
  friend class WriteTransaction;

  enum class Role { kWaiting, kLeader, kMember };
  struct Waiter {
    bool exclusive = false;
    Role role = Role::kWaiting;
    std::shared_ptr<WriteGroup> group;  // a member's
    Condition wakes;
  };

  Result<WriteTransaction> lead(std::shared_ptr<WriteGroup> group) GM_EXCLUDES(mutex_);
  Result<WriteTransaction> join(std::shared_ptr<WriteGroup> group) GM_EXCLUDES(mutex_);
  Status commit(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  Status commit_group(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  // LMDB's code.
  int commit_with_reserve(MDB_txn* txn);
  void tell_log(WriteGroup& group);
  // Asks `found_unreadable`.
  void refuse_what_cannot_be() GM_EXCLUDES(mutex_);
  Status commit_member(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  void abort(WriteTransaction& transaction) GM_EXCLUDES(mutex_);

  // The role given to the waiter, once it is its turn.
  Role wait_for_turn(Waiter& waiter) GM_REQUIRES(mutex_);
  void run_members(const std::shared_ptr<WriteGroup>& group) GM_REQUIRES(mutex_);
  void member_done(WriteGroup& group) GM_REQUIRES(mutex_);
  // Makes the next in the line the leader, or has the line empty.
  void pass_on() GM_REQUIRES(mutex_);

  MDB_env* const env_;
  SpaceReserve& reserve_;  // of the leader whose turn it is
  RedoLog& log_;
  const std::function<Error(int code)> commit_failed_;
  const std::function<std::optional<Error>()> found_unreadable_;

  mutable Mutex mutex_;
  bool busy_ GM_GUARDED_BY(mutex_) = false;  // someone has the turn
  std::thread::id holder_ GM_GUARDED_BY(mutex_);
  std::deque<Waiter*> line_ GM_GUARDED_BY(mutex_);
  std::optional<Error> refusal_ GM_GUARDED_BY(mutex_);
  Counts counts_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::local
