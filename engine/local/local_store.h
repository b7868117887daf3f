// engine::Store on LMDB, and its Snapshot and Transaction.
//
// Thread-safety: as engine/store.h says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/store_hold.h"
#include "engine/local/catalog/catalog.h"
#include "engine/local/catalog/drop_cleanup.h"
#include "engine/local/catalog/read_view.h"
#include "engine/local/open_store.h"
#include "engine/local/storage/environment.h"
#include "engine/local/ttl_monitor.h"
#include "engine/store.h"

namespace gridmount::local {

class LocalSnapshot : public engine::Snapshot, public ReadViewHolder {
 public:
  LocalSnapshot(ReadTransaction transaction, const TreeHandles& handles, CatalogCache& cache,
                IndexUsage& index_usage, Environment& environment);
  ~LocalSnapshot() override;

  Status pause() override;
  Status resume() override;
  void observe(std::shared_ptr<engine::ReadObserver> observer) override {
    read_view()->observe(std::move(observer));
  }
  std::optional<uint64_t> version() const override;

 private:
  ReadTransaction transaction_;
};

// A short snapshot that reads in the LMDB transaction of an open batch. The snapshot holds the
// write lock. pause() and resume() fail with IllegalOperation.
class LocalBatchSnapshot : public engine::Snapshot, public ReadViewHolder {
 public:
  // Nothing may have been written in `transaction`.
  LocalBatchSnapshot(WriteTransaction transaction, const TreeHandles& handles, CatalogCache& cache,
                     IndexUsage& index_usage, Environment& environment);
  ~LocalBatchSnapshot() override;

  Status pause() override;
  Status resume() override;
  void observe(std::shared_ptr<engine::ReadObserver> observer) override {
    read_view()->observe(std::move(observer));
  }

 private:
  WriteTransaction transaction_;
  const StoreHold hold_;
};

class LocalTransaction : public engine::Transaction, public ReadViewHolder {
 public:
  // commit() wakes `drop_cleanup` if the transaction has released keyspaces.
  LocalTransaction(WriteTransaction transaction, engine::TransactionKind kind,
                   const TreeHandles& handles, CatalogCache& cache, IndexUsage& index_usage,
                   Environment& environment, DropCleanup& drop_cleanup);
  ~LocalTransaction() override;

  Status commit(engine::Durability durability) override;
  Status pause() override;
  Status resume() override;
  void observe(std::shared_ptr<engine::ReadObserver> observer) override {
    read_view()->observe(std::move(observer));
  }
  void observe_writes(std::shared_ptr<engine::WriteObserver> observer) override {
    read_view()->observe_writes(std::move(observer));
  }

 private:
  WriteTransaction transaction_;
  std::optional<StoreHold> hold_;  // set for a short transaction
  DropCleanup& drop_cleanup_;
};

class LocalStore : public engine::Store {
 public:
  // Takes ownership of the environment, and starts the threads of DropCleanup and TtlMonitor,
  // unless the store is read-only.
  LocalStore(std::unique_ptr<Environment> environment, const OpenOptions& options);

  std::shared_ptr<engine::Database> database(std::string_view name) override;
  Result<std::vector<std::string>> databases(engine::Snapshot& snapshot) override;
  Result<std::unique_ptr<engine::Snapshot>> snapshot() override;
  Result<std::unique_ptr<engine::Snapshot>> short_snapshot() override;
  Result<std::unique_ptr<engine::Transaction>> begin(
      engine::TransactionKind kind = engine::TransactionKind::kMayBlock) override;
  Status make_durable() override;
  Result<int64_t> compact(const engine::Namespace& ns,
                          const std::optional<engine::Deadline>& deadline) override;
  Result<engine::StoreStats> stats() override;
  bool read_only() const override;
  // Returns the owner if the store was opened beside its owner (OpenOptions::beside_owner),
  // otherwise nothing.
  std::optional<Owner> owner_beside() const;
  int format_version() const { return environment_->format_version(); }

  Environment& environment() { return *environment_; }
  // Returns the thread that removes the entries of dropped collections and indexes. Must not be
  // called on a read-only store.
  DropCleanup& drop_cleanup() { return *drop_cleanup_; }
  // Like snapshot(), but with the type LocalSnapshot: the caller can read the catalog and the trees
  // directly.
  Result<std::unique_ptr<LocalSnapshot>> local_snapshot();

 private:
  // The members are destroyed in reverse order, so that the threads end before the environment is
  // closed.
  std::unique_ptr<Environment> environment_;
  TreeHandles handles_;
  CatalogCache cache_;
  IndexUsage index_usage_;
  // Both are null on a read-only store.
  std::unique_ptr<DropCleanup> drop_cleanup_;
  std::unique_ptr<TtlMonitor> ttl_monitor_;
};

}  // namespace gridmount::local
