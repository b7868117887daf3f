// The LMDB environment of a store, with its trees, its read transactions and its queue of writers.
// open() replays the changes that StoreFolder finds after a crash.
//
// Every store has the same trees from its creation on: `catalog`, and kTreeCount other trees, in
// which the catalog allocates keyspaces for collections and indexes. No tree is opened or created
// later, so the cost of a transaction does not depend on the number of collections.
//
// Writers get the write lock in the order in which they asked for it. Writers that wait while a
// transaction is open share its commit (group commit). The first writer, the leader, uses the LMDB
// transaction itself. Each of the others uses a nested transaction, which can fail or be aborted
// alone. commit() returns when the shared commit is done. Group commit costs nothing for a writer
// that meets no other writer.
//
// Short transactions (engine::TransactionKind) with few changes also share an LMDB transaction if
// they follow one another without a read in between. This LMDB transaction is called a batch
// (batch.h). A short transaction of the batch is committed when the file `pending` has its changes.
// LMDB commits the batch before the next read transaction begins.
//
// Commits never wait for the disk. Checkpoints (checkpoint.h) and the log (redo_log.h) make them
// durable.
//
// Thread-safety: Environment is thread-safe. A ReadTransaction must be used by one thread at a
// time, and different threads may use it one after another. A WriteTransaction must be begun, used
// and ended by one thread.
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

// A snapshot of the store. The destructor returns the LMDB transaction to the environment's pool
// for reuse, so the environment must outlive a ReadTransaction.
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

// A write transaction, which holds the write lock. If commit() is not called, the destructor undoes
// the writes.
class WriteTransaction {
 public:
  WriteTransaction() = default;
  WriteTransaction(WriteTransaction&& other) noexcept { swap(other); }
  WriteTransaction& operator=(WriteTransaction&& other) noexcept {
    swap(other);
    return *this;
  }
  ~WriteTransaction();

  // Returns LMDB's transaction, which may be a nested one, or null after commit(). All cursors of
  // the transaction must be closed before commit(), because LMDB copies each open cursor for every
  // nested transaction.
  MDB_txn* lmdb() const { return txn_; }

  // Commits the transaction, and ends it also if the commit fails. After an error no write of the
  // transaction has taken effect, except if LMDB's map does not show the commit (kLmdbStale; W13 in
  // write_queue.h). A committed transaction is not yet durable: see Environment::make_durable().
  Status commit();

  // Poisons the transaction: commit() will undo all its writes and return the first `error`.
  void poison(Error error) {
    if (!poison_) poison_ = std::move(error);
  }
  bool poisoned() const { return poison_.has_value(); }

  // Declares that the transaction removes more than it adds (a net shrink). On a full disk or at
  // the size limit, the commit may then succeed although another one would fail (W7 in
  // write_queue.h).
  void net_shrink() { net_shrink_ = true; }

  // Sets the transaction's changes for the log. Without this call only a checkpoint makes the
  // transaction durable.
  void log(RedoChanges changes) { changes_ = std::move(changes); }

  // Declares that the transaction has written nothing.
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
  // local::open(). If recovery is necessary, first restores the newest checkpoint and replays the
  // log. If the process cannot reserve options.map_bytes of address space, tries one half of
  // options.map_bytes, then a quarter, and so on.
  static Result<std::unique_ptr<Environment>> open(const std::filesystem::path& folder,
                                                   const OpenOptions& options);
  // Does the same for the crash tests (test_options.h).
  static Result<std::unique_ptr<Environment>> open(const std::filesystem::path& folder,
                                                   const OpenOptions& options,
                                                   const TestOptions& test);
  // Makes everything that was committed durable, then closes the store. All transactions must have
  // ended.
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Begins a snapshot that has everything that was committed before the call. Fails with the errors
  // of WriteQueue::flush() and of LMDB, with IoError if data.mdb-lock cannot be read, and with
  // WritesRefused if the map does not show the newest commit.
  Result<ReadTransaction> begin_read();
  // Begins a short read. If LMDB does not yet have everything that was committed, takes the write
  // lock and returns a transaction that has everything. Otherwise returns nothing, and the caller
  // must call begin_short_read(). Fails as begin_read() does.
  Result<std::optional<WriteTransaction>> begin_read_in_batch();
  // Like begin_read(), but does not count as a read between short transactions. So short
  // transactions before and after the read can still share their commits.
  Result<ReadTransaction> begin_short_read();
  // Waits for the write lock and begins a write transaction. If space is short, may first take a
  // checkpoint, and then also fails as checkpoint() does. Fails with StoreReadOnly on a read-only
  // store, with IllegalOperation if this thread already has a write transaction, and with
  // WritesRefused after a failed sync or if a file of the store was replaced. Fails with
  // StoreDamaged if a page or the list of free pages is damaged so that nothing may be written, and
  // with IoError if data.mdb or data.mdb-lock cannot be read.
  Result<WriteTransaction> begin_write(
      engine::TransactionKind kind = engine::TransactionKind::kMayBlock);

  // Waits until everything that was committed before the call is durable, by the log or by a
  // checkpoint. Concurrent callers share a sync. Does nothing on a read-only store. Fails with
  // IllegalOperation if this thread has a write transaction, and as Checkpointer::make_durable()
  // does.
  Status make_durable();
  // Like make_durable(), but does not use the log: takes a checkpoint if the newest one does not
  // have everything. Fails with IllegalOperation if this thread has a write transaction, and as
  // Checkpointer::checkpoint() does.
  Status checkpoint();

  MDB_dbi catalog() const;
  MDB_dbi tree(int number) const;  // 0 <= number < kTreeCount
  // Returns the store's figures. The number of free pages may be older than the last commits. But
  // if less than 256 MiB are available, it includes the pages that all earlier removals have freed.
  Result<engine::StoreStats> stats();
  // Returns the number of LMDB's newest committed transaction.
  uint64_t last_transaction() const;
  // Copies the current snapshot to `file`, which must be empty. The result is a data.mdb without
  // free pages. Does not sync. If a page of the trees is damaged, fails with StoreDamaged and
  // writes nothing. Does not check the pages if no MapGuard guards data.mdb (map_guard.h).
  Status copy_pages(const system::File& file);
  // Reports the use of each page in the current snapshot (page_accounting.h). With a visitor,
  // nobody may commit during the call. Fails with IllegalOperation if no MapGuard guards data.mdb
  // (map_guard.h), and as begin_read() and PageAccounting::run() do.
  Result<PageReport> survey_pages(PageVisitor* visitor = nullptr);
  bool read_only() const;
  int format_version() const;
  // Takes a checkpoint. Afterwards LMDB can reuse all pages that earlier removals have freed, and
  // return_free_pages() can return these pages to the file system, except the pages to which an
  // older snapshot still refers. Does nothing on a read-only store. Fails with IllegalOperation if
  // this thread has a write transaction, and as checkpoint() does.
  Status reclaim();
  // Returns the space of free pages to the file system, by holes in data.mdb (free_pages.h), and
  // returns the number of bytes of disk space that are freed. First calls survey_pages(), and fails
  // as it does, and with StoreDamaged if the trees or the list of free pages are damaged. Fails
  // with StoreReadOnly on a read-only store, with the errors of begin_read(), of
  // WriteQueue::begin_exclusive() and of FreePages, and with MaxTimeMSExpired after the deadline.
  // The calling thread must not have a write transaction.
  Result<uint64_t> return_free_pages(const std::optional<engine::Deadline>& deadline);
  // Returns the owner if the store was opened beside an owner (OpenOptions::beside_owner),
  // otherwise nothing.
  std::optional<Owner> owner_beside() const;

 private:
  struct Parts;
  // Does the work of stats(). Without `exact`, uses an older number of free pages.
  Result<engine::StoreStats> stats(bool exact);
  Result<ReadTransaction> begin_read_of_lmdb();
  Status check_all_pages();
  Status may_wait_for_durability() const;
  explicit Environment(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace gridmount::local
