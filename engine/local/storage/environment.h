// The LMDB environment of a store: its trees, its read transactions and its writers' queue.
//
// Every store has the same trees from its creation on: `catalog` and kTreeCount others, which the
// catalog hands out. No tree is opened or made later, so a transaction's cost does not grow with
// the number of collections.
//
// Writers take turns in the order they asked. Those that queue behind a transaction share its
// commit (group commit): the first, the leader, works in the LMDB transaction itself, each of the
// others in a nested one, which fails or is given up alone. commit() returns when the shared commit
// is done. A writer that finds no one before it pays nothing for this.
//
// Small transactions of those who wait for nothing (engine::Waits) that follow one another, while
// nobody reads, share an LMDB transaction too: a batch (batch.h). Each is committed when the file
// `pending` has its changes; LMDB commits them before the next read transaction begins.
//
// Durability is the business of checkpoints (checkpoint.h) and the log (redo_log.h): a commit never
// waits for the disk.
//
// Thread-safety: Environment is thread-safe. A ReadTransaction is used by one thread at a time and
// may move between threads. A WriteTransaction begins, works and ends on one thread.
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/local/format/redo_changes.h"
#include "engine/local/local_store.h"
#include "engine/local/storage/page_survey.h"
#include "engine/store.h"
#include "engine/system/file.h"

namespace gridmount::local {

class Environment;
class ReadPool;
class WriteQueue;
struct WriteGroup;
struct TestOptions;

// A snapshot of the store. Destroying it gives its LMDB transaction back for reuse; the environment
// must still be there then.
class ReadTransaction {
 public:
  ReadTransaction() = default;
  ReadTransaction(ReadTransaction&& other) noexcept { swap(other); }
  ReadTransaction& operator=(ReadTransaction&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ReadTransaction();

  MDB_txn* lmdb() const { return txn_; }

 private:
  friend class ReadPool;
  ReadTransaction(ReadPool* pool, MDB_txn* txn) : pool_(pool), txn_(txn) {}
  void swap(ReadTransaction& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(txn_, other.txn_);
  }

  ReadPool* pool_ = nullptr;
  MDB_txn* txn_ = nullptr;
};

// One writer's turn. Destroying it without commit() undoes everything written in it.
class WriteTransaction {
 public:
  WriteTransaction() = default;
  WriteTransaction(WriteTransaction&& other) noexcept { swap(other); }
  WriteTransaction& operator=(WriteTransaction&& other) noexcept {
    swap(other);
    return *this;
  }
  ~WriteTransaction();

  // Null after commit(). May be a nested transaction; cursors still open on it cost the writers
  // that share the commit a copy each, so close them first.
  MDB_txn* lmdb() const { return txn_; }

  // Ends the transaction whatever it returns. On error nothing of it has happened. Committed is not
  // durable: see Environment::make_durable().
  Status commit();

  // From now on commit() undoes everything and returns `error`. The first one stays.
  void doom(Error error) {
    if (!doom_) doom_ = std::move(error);
  }
  bool doomed() const { return doom_.has_value(); }

  // What is in the store afterwards is less than before, so that the commit may use the room that
  // is kept for this on a full disk.
  void leaves_less() { leaves_less_ = true; }

  // All that was changed in it, so that the log may have it. Without this call it is made durable
  // by checkpoints only.
  void log(RedoChanges changes) { changes_ = std::move(changes); }

  // Nothing was written in it, so that there is nothing to undo.
  void unchanged() { unchanged_ = true; }

 private:
  friend class WriteQueue;
  WriteTransaction(WriteQueue* queue, std::shared_ptr<WriteGroup> group, MDB_txn* txn, bool leader)
      : queue_(queue), group_(std::move(group)), txn_(txn), leader_(leader) {}
  void swap(WriteTransaction& other) noexcept;

  WriteQueue* queue_ = nullptr;
  std::shared_ptr<WriteGroup> group_;
  MDB_txn* txn_ = nullptr;
  bool leader_ = false;
  bool in_batch_ = false;
  bool leaves_less_ = false;
  bool unchanged_ = false;
  engine::Waits waits_ = engine::Waits::kForOthers;
  std::optional<RedoChanges> changes_;
  std::optional<Error> doom_;
};

class Environment {
 public:
  static constexpr int kTreeCount = 128;

  // Opens the store in `folder`, or makes one if options.create says so. The errors are
  // local::open()'s. A store the machine went down with is put back to its newest checkpoint first,
  // and what the log has is done again.
  // Where the process cannot have options.map_bytes of address space, it is half of that, or a
  // quarter, and so on.
  static Result<std::unique_ptr<Environment>> open(const std::filesystem::path& folder,
                                                   const OpenOptions& options);
  // For the crash tests (test_options.h).
  static Result<std::unique_ptr<Environment>> open(const std::filesystem::path& folder,
                                                   const OpenOptions& options,
                                                   const TestOptions& test);
  // Closes cleanly: everything committed is made durable first. All transactions must have ended.
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // What was committed before the call is in it. WriteQueue::settle()'s errors, and LMDB's.
  Result<ReadTransaction> begin_read();
  // Waits for its turn. StoreReadOnly on a read-only store; WritesRefused after a failed sync;
  // IllegalOperation if this thread already holds one.
  Result<WriteTransaction> begin_write(engine::Waits waits = engine::Waits::kForOthers);

  // Returns when everything committed before the call is durable, by the log or a checkpoint;
  // concurrent callers share the work. Nothing to do on a read-only store. IllegalOperation if this
  // thread holds a WriteTransaction.
  Status make_durable();
  // The same, by a checkpoint.
  Status checkpoint();

  MDB_dbi catalog() const;
  MDB_dbi tree(int number) const;  // 0 <= number < kTreeCount
  Result<engine::StoreStats> stats();
  // The newest committed one's number.
  uint64_t last_transaction() const;
  // Writes what a snapshot of now refers to into the file, which is empty: data.mdb without free
  // pages. Not synced. StoreDamaged before anything is written, if the pages of the trees are.
  Status copy_pages(const system::File& file);
  // What the pages of a snapshot of now are used for.
  // With a visitor, which is told of them, nobody may commit meanwhile.
  Result<PageReport> survey_pages(PageVisitor* visitor = nullptr);
  bool read_only() const;
  int format_version() const;
  // By a checkpoint: after it all pages that removals have freed can be reused, and given back, as
  // far as no older snapshot is read.
  Status regain_room();
  // Makes holes of data.mdb of what is free (free_pages.h); returns by how much less it takes on
  // the disk. Reads all trees before: StoreDamaged if they or the list of free pages are. The
  // others are begin_write()'s errors, FreePages', and MaxTimeMSExpired.
  Result<uint64_t> give_back_free_pages(const std::optional<engine::Deadline>& deadline);
  // Whose store is read beside it: OpenOptions::beside_owner.
  std::optional<Owner> owner_beside() const;

 private:
  struct Parts;
  Status check_all_pages();
  Status may_wait_for_durability() const;
  explicit Environment(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace gridmount::local
