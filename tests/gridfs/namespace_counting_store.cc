#include "tests/gridfs/namespace_counting_store.h"

#include <utility>

namespace gridmount::gridfs {
namespace {

using engine::Snapshot;
using engine::Transaction;

class CountingCursor final : public engine::Cursor {
 public:
  CountingCursor(std::unique_ptr<engine::Cursor> cursor, std::shared_ptr<ThreadCounts> counts)
      : cursor_(std::move(cursor)), counts_(std::move(counts)) {}
  Result<std::optional<bson::View>> next() override {
    Result<std::optional<bson::View>> document = cursor_->next();
    if (document && *document) ++counts_->here().documents;
    return document;
  }

 private:
  std::unique_ptr<engine::Cursor> cursor_;
  std::shared_ptr<ThreadCounts> counts_;
};

class CountingCollection final : public engine::Collection {
 public:
  CountingCollection(std::unique_ptr<engine::Collection> collection,
                     std::shared_ptr<ThreadCounts> counts)
      : collection_(std::move(collection)), counts_(std::move(counts)) {}

  const engine::Namespace& ns() const override { return collection_->ns(); }
  Result<std::unique_ptr<engine::Cursor>> find(Snapshot& snapshot, bson::View filter,
                                               const engine::FindOptions& options) override {
    begin_search();
    snapshot.observe(counts_->reads());
    GM_ASSIGN(auto cursor, collection_->find(snapshot, filter, options));
    return std::unique_ptr<engine::Cursor>(
        std::make_unique<CountingCursor>(std::move(cursor), counts_));
  }
  Result<std::optional<bson::View>> find_one(Snapshot& snapshot, bson::View filter,
                                             const engine::FindOptions& options) override {
    begin_search();
    snapshot.observe(counts_->reads());
    GM_ASSIGN(const std::optional<bson::View> document,
              collection_->find_one(snapshot, filter, options));
    if (document) ++counts_->here().documents;
    return document;
  }
  Result<int64_t> count(Snapshot& snapshot, bson::View filter,
                        const engine::CountOptions& options) override {
    ++counts_->here().other;
    snapshot.observe(counts_->reads());
    return collection_->count(snapshot, filter, options);
  }
  Result<std::vector<bson::Value>> distinct(Snapshot& snapshot, std::string_view path,
                                            bson::View filter,
                                            const engine::DistinctOptions& options) override {
    ++counts_->here().other;
    return collection_->distinct(snapshot, path, filter, options);
  }
  Result<std::unique_ptr<engine::Cursor>> aggregate(
      Snapshot& snapshot, bson::View stages, const engine::AggregateOptions& options) override {
    ++counts_->here().other;
    return collection_->aggregate(snapshot, stages, options);
  }
  Result<bson::Document> explain(Snapshot& snapshot, bson::View filter,
                                 const engine::FindOptions& options,
                                 engine::Verbosity verbosity) override {
    ++counts_->here().other;
    return collection_->explain(snapshot, filter, options, verbosity);
  }
  Result<bson::Document> explain_count(Snapshot& snapshot, bson::View filter,
                                       const engine::CountOptions& options,
                                       engine::Verbosity verbosity) override {
    ++counts_->here().other;
    return collection_->explain_count(snapshot, filter, options, verbosity);
  }
  Result<bson::Document> explain_aggregate(Snapshot& snapshot, bson::View stages,
                                           const engine::AggregateOptions& options,
                                           engine::Verbosity verbosity) override {
    ++counts_->here().other;
    return collection_->explain_aggregate(snapshot, stages, options, verbosity);
  }
  void prefetch(Snapshot& snapshot, bson::View filter) override {
    ++counts_->here().other;
    collection_->prefetch(snapshot, filter);
  }
  Result<engine::InsertResult> insert(Transaction& transaction, bson::View document,
                                      const engine::InsertOptions& options) override {
    ++counts_->here().changes;
    return collection_->insert(transaction, document, options);
  }
  Result<engine::UpdateResult> update(Transaction& transaction, bson::View filter,
                                      bson::View update,
                                      const engine::UpdateOptions& options) override {
    ++counts_->here().changes;
    transaction.observe(counts_->reads());
    return collection_->update(transaction, filter, update, options);
  }
  Result<int64_t> remove(Transaction& transaction, bson::View filter, bool multi,
                         const engine::RemoveOptions& options) override {
    ++counts_->here().changes;
    transaction.observe(counts_->reads());
    return collection_->remove(transaction, filter, multi, options);
  }
  Result<engine::FindAndModifyResult> find_and_modify(
      Transaction& transaction, bson::View filter, bson::View update,
      const engine::FindAndModifyOptions& options) override {
    ++counts_->here().changes;
    return collection_->find_and_modify(transaction, filter, update, options);
  }
  Status create_index(Transaction& transaction,
                      const engine::IndexDefinition& definition) override {
    ++counts_->here().other;
    return collection_->create_index(transaction, definition);
  }
  Status drop_index(Transaction& transaction, std::string_view name) override {
    ++counts_->here().other;
    return collection_->drop_index(transaction, name);
  }
  Result<std::vector<engine::IndexDefinition>> indexes(Snapshot& snapshot) override {
    ++counts_->here().other;
    return collection_->indexes(snapshot);
  }
  Result<engine::CollectionStats> stats(Snapshot& snapshot) override {
    ++counts_->here().other;
    return collection_->stats(snapshot);
  }
  Result<std::vector<engine::IndexStats>> index_stats(Snapshot& snapshot) override {
    ++counts_->here().other;
    return collection_->index_stats(snapshot);
  }

 private:
  void begin_search() {
    ++counts_->here().searches;
    if (const auto call = std::exchange(counts_->here().before_search, nullptr)) call();
  }

  std::unique_ptr<engine::Collection> collection_;
  std::shared_ptr<ThreadCounts> counts_;
};

}  // namespace

std::unique_ptr<engine::Collection> CountingDatabase::collection(std::string_view name) {
  return std::make_unique<CountingCollection>(database_->collection(name), counts_);
}

Result<std::vector<engine::CollectionInfo>> CountingDatabase::collections(Snapshot& snapshot) {
  ++counts_->here().other;
  return database_->collections(snapshot);
}

Result<std::optional<engine::CollectionInfo>> CountingDatabase::collection_info(
    Snapshot& snapshot, std::string_view collection) {
  ++counts_->here().other;
  return database_->collection_info(snapshot, collection);
}

Result<bool> CountingDatabase::exists(Snapshot& snapshot, std::string_view collection) {
  ++counts_->here().other;
  return database_->exists(snapshot, collection);
}

Status CountingDatabase::create(Transaction& transaction, std::string_view collection,
                                bson::View options) {
  ++counts_->here().other;
  return database_->create(transaction, collection, options);
}

Result<bson::Document> CountingDatabase::validate(Snapshot& snapshot, std::string_view collection) {
  ++counts_->here().other;
  return database_->validate(snapshot, collection);
}

Status CountingDatabase::drop(Transaction& transaction, std::string_view collection) {
  ++counts_->here().other;
  return database_->drop(transaction, collection);
}

Result<bson::Document> CountingDatabase::modify(Transaction& transaction,
                                                std::string_view collection, bson::View changes) {
  ++counts_->here().other;
  return database_->modify(transaction, collection, changes);
}

Status CountingDatabase::convert_to_capped(Transaction& transaction, std::string_view collection,
                                           int64_t bytes) {
  ++counts_->here().other;
  return database_->convert_to_capped(transaction, collection, bytes);
}

Status CountingDatabase::rename(Transaction& transaction, std::string_view from,
                                const engine::Namespace& to, bool drop_target) {
  ++counts_->here().other;
  return database_->rename(transaction, from, to, drop_target);
}

Status CountingDatabase::drop_database(Transaction& transaction) {
  ++counts_->here().other;
  return database_->drop_database(transaction);
}

}  // namespace gridmount::gridfs
