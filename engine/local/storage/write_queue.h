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
//  W5. After refuse(), no turn to write is given and no group commits.
//  W6. Where a fault has interrupted a call that writes, LMDB's transaction is neither used nor
//      ended any more, and its writer lock stays held: before the turn passes on, refuse().
//  W7. On a full disk a leader whose transaction leaves less than there was has the reserve
//      (space_reserve.h) for its commit; and the size limit (size_limit.h) is for all others.
//  W8. What a group has changed the log is told after its commit, before another turn is given: the
//      leader's changes, then each member's that has committed. If one has not said what it
//      changed, the group has not.
//  W9. After kSmallBeforeBatch small transactions in a row of those who wait for nothing, and since
//      somebody has read, a batch is begun (batch.h), unless the disk has little room: the turns of
//      such that follow write in its transaction, one after the other, and are no groups.
// W10. In a batch commit() returns when `pending` has the changes, and the log is told of them. The
//      batch ends, and LMDB commits it, before somebody reads, or gets another kind of turn; when
//      it is full; when the disk has little room; and with a transaction that `pending` has no room
//      for, whose commit() returns what came of that. So nobody who reads waits for a turn of those
//      who may wait for him.
// W11. A transaction that fails in a batch, having written, takes LMDB's with it: what the batch
//      has committed is made once more, from its changes.
// W12. Where a batch cannot be committed or made once more, whoever comes next tries it again, and
//      nothing is written or read before it is done: LMDB lacks what was committed. `pending` has
//      it, for the next opening.
// W13. A transaction begins, and is committed, only where LMDB's map shows what was committed
//      before (commit_sequence.h). Where it does not, commit() says so although LMDB has committed:
//      nobody knows what the next opening finds.
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
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/local/files/space_reserve.h"
#include "engine/local/storage/batch.h"
#include "engine/local/storage/environment.h"
#include "engine/local/storage/redo_log.h"
#include "engine/local/storage/size_limit.h"
#include "engine/local/test_options.h"
#include "engine/store.h"

namespace gridmount::local {

// What a leader and its members share; guarded by the queue's mutex.
struct WriteGroup {
  MDB_txn* txn = nullptr;  // the leader's
  RedoChanges changes;     // W8. Whose turn it is has them.
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
  static constexpr int kSmallBeforeBatch = 8;

  struct Callbacks {
    // Turns the code of a failed commit into its error.
    std::function<Error(int code)> commit_failed;
    // Says before each write and each commit whether nothing may be written any more.
    std::function<std::optional<Error>()> found_unreadable;
    // Makes changes (RedoChanges::bytes()) in a transaction.
    std::function<Status(std::string_view changes, MDB_txn* txn)> make_again;
  };
  // `reserve` and `log` outlive this.
  WriteQueue(MDB_env* env, SpaceReserve& reserve, SizeLimit limit, RedoLog& log,
             PendingFile pending, Callbacks callbacks, const TestOptions& test);
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  // To be called once, when what `pending` has from before is in data.mdb. Until then there are no
  // batches.
  void allow_batches() { batch_.allow(); }

  Result<WriteTransaction> begin(engine::Waits waits = engine::Waits::kForOthers)
      GM_EXCLUDES(mutex_);

  // Waits for an exclusive turn; end_exclusive() ends it. An error is W12's: there is no turn.
  Status begin_exclusive() GM_EXCLUDES(mutex_);
  void end_exclusive() GM_EXCLUDES(mutex_);

  // To be called before a read transaction begins, and before anybody waits for a checkpoint: LMDB
  // has all that was committed before the call when it returns. IllegalOperation if this thread has
  // the turn in a batch that has something LMDB lacks; W12's error.
  Status settle() GM_EXCLUDES(mutex_);
  bool is_settled() const { return !is_unsettled_; }

  // All later begin() and unfinished commits fail with this error. The first one stays.
  void refuse(Error error) GM_EXCLUDES(mutex_);
  std::optional<Error> refusal() const GM_EXCLUDES(mutex_);

  // Of the last commit: there was little room for it (W4).
  bool is_short_of_room() const { return is_short_of_room_; }

  // The calling thread has the turn.
  bool held_by_this_thread() const GM_EXCLUDES(mutex_);

  struct Counts {
    uint64_t commits = 0;  // LMDB's, but for batches
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

  // W9 to W12: write_queue_batch.cc.
  class Turn;  // of the calling thread, to its end
  bool has_room();
  bool wants_batch();
  WriteTransaction write_in_batch(std::shared_ptr<WriteGroup> group) GM_EXCLUDES(mutex_);
  Status commit_in_batch(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  Status commit_batch_with(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  void abort_in_batch(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  Status end_batch() GM_EXCLUDES(mutex_);
  bool is_wanted_settled() GM_EXCLUDES(mutex_);
  void settled() GM_EXCLUDES(mutex_);
  bool take_turn_to_settle() GM_EXCLUDES(mutex_);
  Status commit_batch(bool lends) GM_EXCLUDES(mutex_);
  Status make_batch_again() GM_EXCLUDES(mutex_);
  Status end_batch_before_turn() GM_EXCLUDES(mutex_);
  void batch_is_due() GM_EXCLUDES(mutex_);
  void end_turn() GM_EXCLUDES(mutex_);

  Result<WriteTransaction> lead(std::shared_ptr<WriteGroup> group) GM_EXCLUDES(mutex_);
  Result<WriteTransaction> join(std::shared_ptr<WriteGroup> group) GM_EXCLUDES(mutex_);
  Status commit(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  Status commit_group(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  // Of what there is on the disk and under the limit.
  SpaceReserve::Room room();
  // LMDB's code.
  int commit_with_reserve(const std::function<int()>& commit);
  void tell_log(uint64_t number, RedoChanges changes);
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
  const SizeLimit limit_;
  RedoLog& log_;
  const Callbacks callbacks_;
  const int small_before_batch_;
  // Small transactions that LMDB has committed one by one since somebody has read; of whose turn it
  // is.
  int small_in_a_row_ = 0;
  std::atomic<bool> has_been_read_ = false;  // since wants_batch() has asked
  std::atomic<bool> is_unsettled_ = false;   // the batch has something
  std::atomic<bool> is_short_of_room_ = false;

  mutable Mutex mutex_;
  bool busy_ GM_GUARDED_BY(mutex_) = false;  // someone has the turn
  std::thread::id holder_ GM_GUARDED_BY(mutex_);
  std::deque<Waiter*> line_ GM_GUARDED_BY(mutex_);
  std::optional<Error> refusal_ GM_GUARDED_BY(mutex_);
  int settling_ GM_GUARDED_BY(mutex_) = 0;  // threads in settle() that wait
  Condition settled_;
  Counts counts_ GM_GUARDED_BY(mutex_);
  // Of whose turn it is. Its thread uses the others: destroyed first.
  Batch batch_;
};

}  // namespace gridmount::local
