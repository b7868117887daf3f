// A database that counts the requests to it and passes them on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/store.h"

namespace gridmount::gridfs {

struct EngineCounts {
  int searches = 0;   // find and find_one
  int documents = 0;  // returned by these
  int64_t keys_examined = 0;
  int64_t documents_examined = 0;
  int changes = 0;  // insert, update, remove, find_and_modify
  int other = 0;
  std::function<void()> before_search;  // is called once
};

class CountingDatabase final : public engine::Database {
 public:
  explicit CountingDatabase(std::shared_ptr<engine::Database> database)
      : database_(std::move(database)),
        counts_(std::make_shared<EngineCounts>()),
        reads_(std::make_shared<engine::ReadObserver>()) {}

  // Returns the counts since the last call.
  EngineCounts take() {
    const engine::ReadObserver read = std::exchange(*reads_, {});
    counts_->keys_examined = read.keys_examined;
    counts_->documents_examined = read.documents_examined;
    return std::exchange(*counts_, {});
  }

  // Calls it when the next search begins, and forgets it then, or with take().
  void before_next_search(std::function<void()> call) { counts_->before_search = std::move(call); }

  const std::string& name() const override { return database_->name(); }
  std::unique_ptr<engine::Collection> collection(std::string_view name) override;
  Result<std::vector<engine::CollectionInfo>> collections(engine::Snapshot& snapshot) override;
  Result<std::optional<engine::CollectionInfo>> collection_info(
      engine::Snapshot& snapshot, std::string_view collection) override;
  Result<bool> exists(engine::Snapshot& snapshot, std::string_view collection) override;
  Status create(engine::Transaction& transaction, std::string_view collection,
                bson::View options) override;
  Result<bson::Document> validate(engine::Snapshot& snapshot, std::string_view collection) override;
  Status drop(engine::Transaction& transaction, std::string_view collection) override;
  Result<bson::Document> modify(engine::Transaction& transaction, std::string_view collection,
                                bson::View changes) override;
  Status convert_to_capped(engine::Transaction& transaction, std::string_view collection,
                           int64_t bytes) override;
  Status rename(engine::Transaction& transaction, std::string_view from,
                const engine::Namespace& to, bool drop_target) override;
  Status drop_database(engine::Transaction& transaction) override;

 private:
  std::shared_ptr<engine::Database> database_;
  std::shared_ptr<EngineCounts> counts_;
  std::shared_ptr<engine::ReadObserver> reads_;
};

}  // namespace gridmount::gridfs
