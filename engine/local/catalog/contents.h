// One view of the store's contents, as a Snapshot or Transaction has it: the trees, the catalog and
// what must live as long as the view.
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

// Shared by the Snapshot or Transaction and the cursors on it, so that a cursor that outlives it
// finds an ended view rather than freed memory.
class Contents {
 public:
  Contents(MDB_txn* txn, const TreeHandles& handles, bool writable, CatalogCache& cache,
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

  // Of Snapshot.
  void pause();
  void resume(MDB_txn* txn);

  // Of Snapshot. Null: nobody watches.
  void observe(std::shared_ptr<engine::ReadObserver> observer) { observer_ = std::move(observer); }
  const std::shared_ptr<engine::ReadObserver>& observer() const { return observer_; }
  // Of Transaction. Null: nobody watches.
  void observe_writes(std::shared_ptr<engine::WriteObserver> observer) {
    write_observer_ = std::move(observer);
  }
  engine::WriteObserver* write_observer() const { return write_observer_.get(); }
  void tell_collection_changed(const engine::Namespace& ns) {
    if (write_observer_) write_observer_->collection_changed(ns);
  }

  // Keeps a document that was made for a reader as long as rule S5 asks.
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
class ContentsHolder {
 public:
  virtual ~ContentsHolder() = default;
  const std::shared_ptr<Contents>& contents() const { return contents_; }

 protected:
  explicit ContentsHolder(std::shared_ptr<Contents> contents) : contents_(std::move(contents)) {}

 private:
  std::shared_ptr<Contents> contents_;
};

// IllegalOperation if it is another store's, of another implementation, or has ended.
Result<std::shared_ptr<Contents>> contents_of(engine::Snapshot& snapshot,
                                              const Environment& environment);
// The same for writing; the error that doomed the transaction if one did.
Result<std::shared_ptr<Contents>> writable_contents_of(engine::Transaction& transaction,
                                                       const Environment& environment);

}  // namespace gridmount::local
