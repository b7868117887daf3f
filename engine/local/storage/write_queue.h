// The write lock of a store, with its FIFO queue of waiting writers, and the commits that writers
// share.
//
// One thread at a time holds the write lock, either for a write transaction or exclusively. The
// checkpointer holds the lock exclusively to pin a snapshot while no transaction is open. Threads
// get the lock in the order in which they requested it.
//
//  W1. Writers that commit together are a group. The first one, the leader, has the LMDB
//      transaction. After the leader has called commit(), the others, the members, get transactions
//      that are nested in the leader's transaction, one by one.
//  W2. If a member fails, only its nested transaction ends.
//  W3. A leader can fail only before it has members, so no other writer fails with it. The next
//      waiting writer becomes a leader.
//  W4. A group ends when it has kGroupMembersMax members, kGroupTimeMax after its leader has called
//      commit(), when no writer waits, when a thread that wants the lock exclusively or for a short
//      read (W10) is next in the queue, or when the disk has little room. (In these rules, the disk
//      also has little room if the size limit leaves little room. In W9 and W10, this is also so if
//      the map or the process's limit for the size of files leaves little room.) Then the leader
//      commits, and every member's commit() returns the result.
//  W5. After refuse(), no thread gets the lock for a transaction and no group commits.
//  W6. If a fault has interrupted a call that writes, no thread uses or ends LMDB's transaction any
//      more, and LMDB's writer lock is not released. refuse() is called before the next thread gets
//      the write lock.
//  W7. A leader whose transaction is a net shrink is exempt from the size limit (size_limit.h). On
//      a full disk, it may also use the reserve (space_reserve.h) for its commit.
//  W8. After a group's commit and before the next thread gets the write lock, the leader passes the
//      group's changes to the log: first its own, then those of each member that has committed. If
//      WriteTransaction::log() was not called for one of these transactions, the log gets none of
//      the changes.
//  W9. A short transaction is a transaction that waits for no other thread
//      (engine::TransactionKind). A batch (batch.h) is begun after kSmallBeforeBatch successive
//      short transactions that are small enough for the log, without a read in between, unless the
//      disk has little room. The following short transactions write in the batch's LMDB
//      transaction, one after another, and form no groups.
// W10. In a batch, commit() returns when `pending` and the log have the changes. The batch ends,
//      and LMDB commits it, before a read begins, before a thread gets the lock for anything but a
//      short transaction or a short read, when the batch is full or has been open for
//      Batch::kTimeMax, and when the disk has little room. If `pending` has no room for a
//      transaction, this transaction is the batch's last one, and its commit() returns the result
//      of the batch's commit. A batch has only short transactions, so a reader never waits for a
//      transaction that waits for this reader. A short read (engine::Store::short_snapshot) takes
//      the write lock and reads in the batch's LMDB transaction, so it does not end the batch.
// W11. If a transaction in a batch fails after it has written, LMDB's transaction ends too. The
//      changes of the transactions that the batch has committed are then replayed in a new LMDB
//      transaction.
// W12. If a batch can be neither committed nor replayed, LMDB lacks committed changes. Until the
//      batch's commit succeeds, nothing is written, and only short reads can read. Each thread that
//      wants to write or read tries the commit again. If no try succeeds, the next opening replays
//      the changes, which `pending` has.
// W13. A transaction begins and commits only if LMDB's map shows the commit before it
//      (commit_sequence.h). If the map does not show a commit, commit() fails although LMDB has
//      committed, because it is not known what the next opening will find.
//
// The code asserts W1 to W4, W6, W8 and W10 to W12, as far as a comparison can show that a rule is
// broken. For W5, the code checks for a refusal under the mutex: when a thread has got the lock,
// and before a commit. A commit that has already begun is finished. The tests of the size limit and
// of full disks cover W7, and the tests of batches cover W9. W13 depends on the file system, so it
// is not asserted: the writer gets an error.
//
// Outside of a batch, LMDB's own writer lock belongs to the leader's thread, which begins and ends
// the LMDB transaction. In a batch, it belongs to the batch's thread. Members use the leader's
// transaction from their own threads while the leader waits in commit().
//
// Thread-safe. The thread that got the write lock must release it.
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

// The state that a leader and its members share. The queue's mutex guards all fields except
// `changes` and `txn`. The leader sets `txn` before any other thread knows the group.
struct WriteGroup {
  MDB_txn* txn = nullptr;  // the leader's transaction
  RedoChanges changes;     // for the log (W8); only the holder of the write lock may use it
  int members = 0;
  bool member_working = false;
  Condition leader_wakes;
  bool finished = false;
  Condition finished_wakes;
  std::optional<Error> error;  // the error of the commit, if it failed
};

class WriteQueue {
 public:
  static constexpr int kGroupMembersMax = 64;
  static constexpr std::chrono::milliseconds kGroupTimeMax{10};
  static constexpr int kSmallBeforeBatch = 8;

  struct Callbacks {
    // Cleans up after a failed commit, and converts its code to an error.
    std::function<Error(int code)> commit_failed;
    // Returns an error if nothing may be written any more. The queue calls this function before and
    // after each commit of LMDB's transaction, before each commit in a batch, after an abort, when
    // LMDB cannot begin a transaction, and in refusal().
    std::function<std::optional<Error>()> found_unreadable;
    // Replays changes (RedoChanges::bytes()) in a transaction.
    std::function<Status(std::string_view changes, MDB_txn* txn)> replay;
  };
  // `env`, `reserve` and `log` must outlive this object.
  WriteQueue(MDB_env* env, SpaceReserve& reserve, SizeLimit limit, RedoLog& log,
             PendingFile pending, Callbacks callbacks, const TestOptions& test);
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  // Must be called once, after the old contents of `pending` have been replayed. Before this call
  // there are no batches.
  void allow_batches() { batch_.allow(); }

  // Waits for the write lock and begins a transaction. Fails with the error of refuse(), with
  // IllegalOperation if this thread already holds the lock, with LMDB's errors, and if a batch
  // cannot be committed (W12).
  Result<WriteTransaction> begin(engine::TransactionKind kind = engine::TransactionKind::kMayBlock)
      GM_EXCLUDES(mutex_);

  // Waits for the write lock and takes it exclusively, until end_exclusive(). The calling thread
  // must not hold the lock already, because it would wait for ever. Fails if a batch cannot be
  // committed (W12), and the thread then does not hold the lock.
  Status begin_exclusive() GM_EXCLUDES(mutex_);
  void end_exclusive() GM_EXCLUDES(mutex_);

  // Flushes the batch: makes LMDB commit everything that was committed before the call. Must be
  // called before a read transaction begins and before a thread waits for a checkpoint. Fails with
  // IllegalOperation if this thread has a transaction in the batch, and with the error of the
  // batch's commit if it cannot be committed (W12).
  Status flush() GM_EXCLUDES(mutex_);
  bool is_flushed() const { return !is_dirty_; }

  // Begins a short read: takes the write lock and returns a transaction that reads in the open
  // batch. Returns nothing if LMDB already has everything that was committed: any read transaction
  // then shows all of it. Fails as flush() does. Exception: if the batch's commit fails, but its
  // changes can be replayed, returns a transaction that reads the replayed changes.
  Result<std::optional<WriteTransaction>> begin_read_in_batch() GM_EXCLUDES(mutex_);

  // After this call, begin() and all commits that have not begun yet fail with this error (W5). If
  // refuse() is called again, the first error remains.
  void refuse(Error error) GM_EXCLUDES(mutex_);
  std::optional<Error> refusal() const GM_EXCLUDES(mutex_);

  // Returns whether the disk had little room for the last commit (W4).
  bool is_short_of_room() const { return is_short_of_room_; }

  // Returns whether the calling thread holds the write lock.
  bool held_by_this_thread() const GM_EXCLUDES(mutex_);

  // Returns the number of committed transactions with a net shrink.
  uint64_t shrinks() const { return shrinks_; }
  void count_shrink() { ++shrinks_; }

  struct Counts {
    uint64_t commits = 0;  // LMDB's commits, except the commits of batches
    uint64_t members = 0;  // transactions that were committed as members of a group
  };
  Counts counts() const GM_EXCLUDES(mutex_);

 private:
  friend class WriteTransaction;

  // kFlushed: a reader that no longer needs the write lock, because the batch was flushed.
  enum class Role { kWaiting, kLeader, kMember, kFlushed };
  struct Waiter {
    bool exclusive = false;
    bool reads_in_batch = false;
    Role role = Role::kWaiting;
    std::shared_ptr<WriteGroup> group;  // a member's group
    Condition wakes;
  };

  // The functions for batches (W9 to W12). write_queue_batch.cc defines them.
  class Releaser;  // releases the write lock when it is destroyed
  bool has_room();
  bool wants_batch();
  WriteTransaction write_in_batch(std::shared_ptr<WriteGroup> group) GM_EXCLUDES(mutex_);
  Status commit_in_batch(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  Status commit_batch_with(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  void abort_in_batch(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  Status end_batch() GM_EXCLUDES(mutex_);
  bool is_flush_wanted() GM_EXCLUDES(mutex_);
  void flushed() GM_EXCLUDES(mutex_);
  bool lock_to_flush() GM_EXCLUDES(mutex_);
  Result<bool> lock_to_read_in_batch() GM_EXCLUDES(mutex_);
  Status commit_batch(bool releases) GM_EXCLUDES(mutex_);
  Status replay_batch() GM_EXCLUDES(mutex_);
  Status end_batch_after_locking() GM_EXCLUDES(mutex_);
  void batch_is_due() GM_EXCLUDES(mutex_);
  void release_lock() GM_EXCLUDES(mutex_);

  Result<WriteTransaction> lead(std::shared_ptr<WriteGroup> group) GM_EXCLUDES(mutex_);
  Result<WriteTransaction> join(std::shared_ptr<WriteGroup> group) GM_EXCLUDES(mutex_);
  Status commit(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  Status commit_group(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  // Returns the room on the disk or under the size limit, whichever is less.
  SpaceReserve::Room room();
  // Runs `commit` with the reserve released, unless only the size limit leaves no room. Returns the
  // code of `commit`.
  int commit_with_reserve(const std::function<int()>& commit);
  void append_to_log(uint64_t number, RedoChanges changes);
  // Calls refuse() if `found_unreadable` returns an error.
  void refuse_if_unreadable() GM_EXCLUDES(mutex_);
  Status commit_member(WriteTransaction& transaction) GM_EXCLUDES(mutex_);
  void abort(WriteTransaction& transaction) GM_EXCLUDES(mutex_);

  // Waits for the write lock. Returns the role that was given to the waiter.
  Role wait_for_lock(Waiter& waiter) GM_REQUIRES(mutex_);
  void run_members(const std::shared_ptr<WriteGroup>& group) GM_REQUIRES(mutex_);
  void member_done(WriteGroup& group) GM_REQUIRES(mutex_);
  // Makes the next waiter the leader and gives it the write lock. If nobody waits, the lock becomes
  // free.
  void grant_to_next() GM_REQUIRES(mutex_);

  MDB_env* const env_;
  SpaceReserve& reserve_;  // only the holder of the write lock may use it
  const SizeLimit limit_;
  RedoLog& log_;
  const Callbacks callbacks_;
  const int small_before_batch_;
  // The number of successive short transactions since the last read (W9). Only the holder of the
  // write lock may use it.
  int small_in_a_row_ = 0;
  std::atomic<bool> has_been_read_ = false;  // there was a read since the last wants_batch()
  std::atomic<bool> is_dirty_ = false;       // the batch has changes that LMDB lacks
  std::atomic<bool> is_short_of_room_ = false;
  std::atomic<uint64_t> shrinks_ = 0;

  mutable Mutex mutex_;
  bool is_held_ GM_GUARDED_BY(mutex_) = false;  // a thread holds the write lock
  std::thread::id holder_ GM_GUARDED_BY(mutex_);
  std::deque<Waiter*> waiters_ GM_GUARDED_BY(mutex_);
  std::optional<Error> refusal_ GM_GUARDED_BY(mutex_);
  int flushing_ GM_GUARDED_BY(mutex_) = 0;  // how many threads wait in flush()
  Condition flushed_;
  Counts counts_ GM_GUARDED_BY(mutex_);
  // Only the holder of the write lock may use batch_. It must be the last member, so that it is
  // destroyed first: the batch's thread uses the other members.
  Batch batch_;
};

}  // namespace gridmount::local
