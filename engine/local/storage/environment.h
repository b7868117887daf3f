// The LMDB environment of a store: its trees, its read transactions and its queue of writers. Its
// opening replays the changes that StoreFolder finds after a crash.
//
// Every store has the same trees from its creation on: `catalog`, and kTreeCount others, which the
// catalog assigns to collections and indexes. No tree is opened or created later, so the cost of a
// transaction does not grow with the number of collections.
//
// Writers get the write lock in the order in which they asked for it. Writers that queue behind a
// transaction share its commit (group commit). The first one, the leader, works in the LMDB
// transaction itself. Each of the others works in a nested transaction, which can fail or be
// aborted alone. commit() returns when the shared commit is done. A writer that meets no other one
// pays nothing for this.
//
// Small transactions that wait for no other thread (engine::TransactionKind) and follow one another
// without a read in between also share an LMDB transaction, called a batch (batch.h). Each of them
// is committed when the file `pending` has its changes. LMDB commits the batch before the next read
// transaction begins.
//
// Commits never wait for the disk. Checkpoints (checkpoint.h) and the log (redo_log.h) make them
// durable.
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
#include "engine/local/open_store.h"
#include "engine/local/storage/page_accounting.h"
#include "engine/store.h"
#include "engine/system/file.h"

namespace gridmount::local {

class Environment;
class ReadPool;
class WriteQueue;
struct WriteGroup;
struct TestOptions;

// A snapshot of the store. Its destructor returns the LMDB transaction to the environment's pool
// for reuse, so the environment must outlive it.
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

// A write transaction, which holds the write lock. Destroying it without commit() undoes everything
// written in it.
class WriteTransaction {
 public:
  WriteTransaction() = default;
  WriteTransaction(WriteTransaction&& other) noexcept { swap(other); }
  WriteTransaction& operator=(WriteTransaction&& other) noexcept {
    swap(other);
    return *this;
  }
  ~WriteTransaction();

  // Null after commit(). May be a nested transaction. Close all cursors on it before commit(): LMDB
  // copies each open cursor for every nested transaction.
  MDB_txn* lmdb() const { return txn_; }

  // Commits, and ends the transaction whatever it returns. On an error nothing of the transaction
  // has happened, except if LMDB's map does not show the commit (kLmdbStale; W13 in write_queue.h).
  // A committed transaction is not durable yet: see Environment::make_durable().
  Status commit();

  // Poisons the transaction: commit() will undo everything and return `error`. The first error
  // counts.
  void poison(Error error) {
    if (!poison_) poison_ = std::move(error);
  }
  bool poisoned() const { return poison_.has_value(); }

  // Declares a net shrink: the store holds less afterwards. The commit may use the reserve
  // (space_reserve.h) on a full disk.
  void net_shrink() { net_shrink_ = true; }

  // Sets the transaction's changes for the log. Without this call only a checkpoint makes the
  // transaction durable.
  void log(RedoChanges changes) { changes_ = std::move(changes); }

  // Declares that the transaction wrote nothing that must be undone.
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
  bool ends_replay_ = false;  // a short read of a batch whose commit has failed
  bool net_shrink_ = false;
  bool unchanged_ = false;
  engine::TransactionKind kind_ = engine::TransactionKind::kMayBlock;
  std::optional<RedoChanges> changes_;
  std::optional<Error> poison_;
};

class Environment {
 public:
  static constexpr int kTreeCount = 128;

  // Opens the store in `folder`, or creates one if options.create is set. Fails with the errors of
  // local::open(). If recovery is needed, first puts the store back to its newest checkpoint and
  // replays the log. If the process cannot reserve options.map_bytes of address space, tries half
  // of that, then a quarter, and so on.
  static Result<std::unique_ptr<Environment>> open(const std::filesystem::path& folder,
                                                   const OpenOptions& options);
  // For the crash tests (test_options.h).
  static Result<std::unique_ptr<Environment>> open(const std::filesystem::path& folder,
                                                   const OpenOptions& options,
                                                   const TestOptions& test);
  // Makes everything committed durable, then closes the store. All transactions must have ended.
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Begins a snapshot that has everything committed before the call. Fails with the errors of
  // WriteQueue::flush(), and with LMDB's.
  Result<ReadTransaction> begin_read();
  // For a short read. If LMDB does not have everything that was committed yet, takes the write lock
  // and returns a transaction that has it. Otherwise returns nothing, and begin_short_read() must
  // be called. Fails as begin_read() does.
  Result<std::optional<WriteTransaction>> begin_read_in_batch();
  // Like begin_read(), but does not keep short transactions from sharing their commits.
  Result<ReadTransaction> begin_short_read();
  // Waits for the write lock. Fails with StoreReadOnly on a read-only store, with WritesRefused
  // after a failed sync or if a file of the store was replaced, and with IllegalOperation if this
  // thread already has a write transaction.
  Result<WriteTransaction> begin_write(
      engine::TransactionKind kind = engine::TransactionKind::kMayBlock);

  // Returns when everything committed before the call is durable, by the log or by a checkpoint.
  // Concurrent callers share the work. Does nothing on a read-only store. Fails with
  // IllegalOperation if this thread has a write transaction.
  Status make_durable();
  // Like make_durable(), but always by a checkpoint.
  Status checkpoint();

  MDB_dbi catalog() const;
  MDB_dbi tree(int number) const;  // 0 <= number < kTreeCount
  // If there is little room, the count of free pages includes all removals. Otherwise it may be
  // older than the last commits.
  Result<engine::StoreStats> stats();
  // Returns the number of LMDB's newest committed transaction.
  uint64_t last_transaction() const;
  // Copies the current snapshot to `file`, which must be empty: the result is data.mdb without free
  // pages. Does not sync. Fails with StoreDamaged, having written nothing, if a page of the trees
  // is damaged.
  Status copy_pages(const system::File& file);
  // Reports what the pages of the current snapshot are used for (page_accounting.h). If a visitor
  // is passed, nobody may commit meanwhile.
  Result<PageReport> survey_pages(PageVisitor* visitor = nullptr);
  bool read_only() const;
  int format_version() const;
  // Reclaims freed pages by a checkpoint. Afterwards LMDB can reuse, and return_free_pages() can
  // punch out, all pages that earlier removals have freed, except those that an older snapshot
  // still refers to.
  Status reclaim();
  // Punches holes into data.mdb where pages are free (free_pages.h). Returns how many bytes of disk
  // space this frees. Reads all trees first, and fails with StoreDamaged if they or the list of
  // free pages are damaged. Also fails with the errors of begin_write() and of FreePages, and with
  // MaxTimeMSExpired.
  Result<uint64_t> return_free_pages(const std::optional<engine::Deadline>& deadline);
  // Returns the owner if the store was opened beside it (OpenOptions::beside_owner).
  std::optional<Owner> owner_beside() const;

 private:
  struct Parts;
  // stats(). Without `exact`, an older count of free pages is enough.
  Result<engine::StoreStats> stats(bool exact);
  Result<ReadTransaction> begin_read_of_lmdb();
  Status check_all_pages();
  Status may_wait_for_durability() const;
  explicit Environment(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace gridmount::local
