#include "tests/gridfs/late_chunks.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gridmount::gridfs {
namespace {

using engine::Snapshot;
using engine::Transaction;

class LateInserts final : public engine::WriteObserver {
 public:
  LateInserts(engine::Store& store, engine::Collection& collection)
      : store_(store), collection_(collection) {}

  void keep_back(bson::View document) { documents_.emplace_back(document); }
  bool is_done() const { return done_; }

  void document_changed(const engine::Namespace&, const std::optional<bson::View>&,
                        const std::optional<bson::View>&) override {}
  void collection_changed(const engine::Namespace&) override {}
  void committed() override {
    done_ = true;
    const auto transaction = store_.begin();
    if (!transaction) return;
    for (const bson::Document& document : documents_) {
      if (!collection_.insert(**transaction, document)) return;
    }
    (void)(*transaction)->commit();
  }

 private:
  engine::Store& store_;
  engine::Collection& collection_;
  std::vector<bson::Document> documents_;
  bool done_ = false;
};

class LateChunks final : public engine::Collection {
 public:
  LateChunks(engine::Store& store, std::unique_ptr<engine::Collection> collection)
      : store_(store), collection_(std::move(collection)) {}

  const engine::Namespace& ns() const override { return collection_->ns(); }
  Result<std::unique_ptr<engine::Cursor>> find(Snapshot& snapshot, bson::View filter,
                                               const engine::FindOptions& options) override {
    return collection_->find(snapshot, filter, options);
  }
  Result<std::optional<bson::View>> find_one(Snapshot& snapshot, bson::View filter,
                                             const engine::FindOptions& options) override {
    return collection_->find_one(snapshot, filter, options);
  }
  Result<int64_t> count(Snapshot& snapshot, bson::View filter,
                        const engine::CountOptions& options) override {
    return collection_->count(snapshot, filter, options);
  }
  Result<std::vector<bson::Value>> distinct(Snapshot& snapshot, std::string_view path,
                                            bson::View filter,
                                            const engine::DistinctOptions& options) override {
    return collection_->distinct(snapshot, path, filter, options);
  }
  Result<std::unique_ptr<engine::Cursor>> aggregate(
      Snapshot& snapshot, bson::View stages, const engine::AggregateOptions& options) override {
    return collection_->aggregate(snapshot, stages, options);
  }
  Result<bson::Document> explain(Snapshot& snapshot, bson::View filter,
                                 const engine::FindOptions& options,
                                 engine::Verbosity verbosity) override {
    return collection_->explain(snapshot, filter, options, verbosity);
  }
  Result<bson::Document> explain_count(Snapshot& snapshot, bson::View filter,
                                       const engine::CountOptions& options,
                                       engine::Verbosity verbosity) override {
    return collection_->explain_count(snapshot, filter, options, verbosity);
  }
  Result<bson::Document> explain_aggregate(Snapshot& snapshot, bson::View stages,
                                           const engine::AggregateOptions& options,
                                           engine::Verbosity verbosity) override {
    return collection_->explain_aggregate(snapshot, stages, options, verbosity);
  }
  void prefetch(Snapshot& snapshot, bson::View filter) override {
    collection_->prefetch(snapshot, filter);
  }
  Result<engine::InsertResult> insert(Transaction& transaction, bson::View document,
                                      const engine::InsertOptions&) override {
    if (transaction_ != &transaction || !late_ || late_->is_done()) {
      transaction_ = &transaction;
      late_ = std::make_shared<LateInserts>(store_, *collection_);
      transaction.observe_writes(late_);
    }
    late_->keep_back(document);
    return engine::InsertResult{bson::Value(document["_id"])};
  }
  Result<engine::UpdateResult> update(Transaction& transaction, bson::View filter,
                                      bson::View update,
                                      const engine::UpdateOptions& options) override {
    return collection_->update(transaction, filter, update, options);
  }
  Result<int64_t> remove(Transaction& transaction, bson::View filter, bool multi,
                         const engine::RemoveOptions& options) override {
    return collection_->remove(transaction, filter, multi, options);
  }
  Result<engine::FindAndModifyResult> find_and_modify(
      Transaction& transaction, bson::View filter, bson::View update,
      const engine::FindAndModifyOptions& options) override {
    return collection_->find_and_modify(transaction, filter, update, options);
  }
  Status create_index(Transaction& transaction,
                      const engine::IndexDefinition& definition) override {
    return collection_->create_index(transaction, definition);
  }
  Status drop_index(Transaction& transaction, std::string_view name) override {
    return collection_->drop_index(transaction, name);
  }
  Result<std::vector<engine::IndexDefinition>> indexes(Snapshot& snapshot) override {
    return collection_->indexes(snapshot);
  }
  Result<engine::CollectionStats> stats(Snapshot& snapshot) override {
    return collection_->stats(snapshot);
  }
  Result<std::vector<engine::IndexStats>> index_stats(Snapshot& snapshot) override {
    return collection_->index_stats(snapshot);
  }

 private:
  engine::Store& store_;
  std::unique_ptr<engine::Collection> collection_;
  // The transaction of the last insert.
  const Transaction* transaction_ = nullptr;
  std::shared_ptr<LateInserts> late_;
};

class LateChunksDatabase final : public engine::Database {
 public:
  LateChunksDatabase(engine::Store& store, std::shared_ptr<engine::Database> database)
      : store_(store), database_(std::move(database)) {}

  const std::string& name() const override { return database_->name(); }
  std::unique_ptr<engine::Collection> collection(std::string_view name) override {
    std::unique_ptr<engine::Collection> collection = database_->collection(name);
    if (!name.ends_with(".chunks")) return collection;
    return std::make_unique<LateChunks>(store_, std::move(collection));
  }
  Result<std::vector<engine::CollectionInfo>> collections(Snapshot& snapshot) override {
    return database_->collections(snapshot);
  }
  Result<std::optional<engine::CollectionInfo>> collection_info(
      Snapshot& snapshot, std::string_view collection) override {
    return database_->collection_info(snapshot, collection);
  }
  Result<bool> exists(Snapshot& snapshot, std::string_view collection) override {
    return database_->exists(snapshot, collection);
  }
  Status create(Transaction& transaction, std::string_view collection,
                bson::View options) override {
    return database_->create(transaction, collection, options);
  }
  Result<bson::Document> modify(Transaction& transaction, std::string_view collection,
                                bson::View changes) override {
    return database_->modify(transaction, collection, changes);
  }
  Status convert_to_capped(Transaction& transaction, std::string_view collection,
                           int64_t bytes) override {
    return database_->convert_to_capped(transaction, collection, bytes);
  }
  Result<bson::Document> validate(Snapshot& snapshot, std::string_view collection) override {
    return database_->validate(snapshot, collection);
  }
  Status drop(Transaction& transaction, std::string_view collection) override {
    return database_->drop(transaction, collection);
  }
  Status rename(Transaction& transaction, std::string_view from, const engine::Namespace& to,
                bool drop_target) override {
    return database_->rename(transaction, from, to, drop_target);
  }
  Status drop_database(Transaction& transaction) override {
    return database_->drop_database(transaction);
  }

 private:
  engine::Store& store_;
  std::shared_ptr<engine::Database> database_;
};

}  // namespace

std::shared_ptr<engine::Database> with_late_chunks(engine::Store& store,
                                                   std::shared_ptr<engine::Database> database) {
  return std::make_shared<LateChunksDatabase>(store, std::move(database));
}

}  // namespace gridmount::gridfs
