// ReadView: the state of a store that a Snapshot or Transaction reads. It has the trees, the
// catalog, the observers, and the documents that were built for readers.
//
// Not thread-safe. Only the thread that uses the Snapshot or Transaction may use its ReadView.
#pragma once

#include <deque>
#include <memory>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/catalog/catalog.h"
#include "engine/local/catalog/index_usage.h"
#include "engine/local/storage/environment.h"
#include "engine/local/storage/trees.h"
#include "engine/store.h"

namespace gridmount::local {

// A Snapshot or Transaction and its cursors share a ReadView. So a cursor that is used after its
// Snapshot was destroyed finds an ended ReadView, and not freed memory.
class ReadView {
 public:
  ReadView(MDB_txn* txn, const TreeHandles& handles, bool writable, CatalogCache& cache,
           IndexUsage& index_usage, Environment& environment)
      : trees_(std::make_shared<Trees>(txn, handles, writable)),
        catalog_(trees_, cache),
        index_usage_(index_usage),
        environment_(environment) {}

  Trees& trees() { return *trees_; }
  const std::shared_ptr<Trees>& shared_trees() const { return trees_; }
  Catalog& catalog() { return catalog_; }
  IndexUsage& index_usage() { return index_usage_; }
  Environment& environment() { return environment_; }

  // Snapshot::pause() and resume() call these functions.
  void pause();
  void resume(MDB_txn* txn);

  // Implements Snapshot::observe(). If `observer` is null, reads have no observer.
  void observe(std::shared_ptr<engine::ReadObserver> observer) { observer_ = std::move(observer); }
  const std::shared_ptr<engine::ReadObserver>& observer() const { return observer_; }
  // Implements Transaction::observe_writes(). If `observer` is null, writes have no observer.
  void observe_writes(std::shared_ptr<engine::WriteObserver> observer) {
    write_observer_ = std::move(observer);
  }
  engine::WriteObserver* write_observer() const { return write_observer_.get(); }
  void notify_collection_changed(const engine::Namespace& ns) {
    if (write_observer_) write_observer_->collection_changed(ns);
  }

  // Keeps a document that was built for a reader. Returns a view of it, which is valid for as long
  // as rule S5 of engine/store.h says.
  bson::View keep(bson::Document document);

 private:
  std::shared_ptr<Trees> trees_;
  Catalog catalog_;
  IndexUsage& index_usage_;
  Environment& environment_;
  std::shared_ptr<engine::ReadObserver> observer_;
  std::shared_ptr<engine::WriteObserver> write_observer_;
  std::deque<bson::Document> kept_;
  uint64_t kept_at_write_ = 0;
};

// What LocalSnapshot and LocalTransaction have in common.
class ReadViewHolder {
 public:
  virtual ~ReadViewHolder() = default;
  const std::shared_ptr<ReadView>& read_view() const { return read_view_; }

 protected:
  explicit ReadViewHolder(std::shared_ptr<ReadView> read_view) : read_view_(std::move(read_view)) {}

 private:
  std::shared_ptr<ReadView> read_view_;
};

// Returns the ReadView of a snapshot or transaction. Fails with IllegalOperation if the snapshot
// belongs to another store or another implementation, is paused, or has ended.
Result<std::shared_ptr<ReadView>> read_view_of(engine::Snapshot& snapshot,
                                               const Environment& environment);
// Like read_view_of(), for a write. If an earlier write has failed and has poisoned the transaction
// (S3), fails with the error of that write.
Result<std::shared_ptr<ReadView>> writable_view_of(engine::Transaction& transaction,
                                                   const Environment& environment);

}  // namespace gridmount::local
