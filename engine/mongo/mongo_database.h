// engine::Database over a deployment.
//
// Thread-safety: immutable, so thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mongo/mongo_snapshot.h"
#include "engine/store.h"

namespace gridmount::mongo {

class MongoDatabase final : public engine::Database {
 public:
  explicit MongoDatabase(std::string_view name) : name_(name) {}

  const std::string& name() const override { return name_; }
  std::unique_ptr<engine::Collection> collection(std::string_view name) override;

  Result<std::vector<engine::CollectionInfo>> collections(engine::Snapshot& snapshot) override;
  Result<std::optional<engine::CollectionInfo>> collection_info(
      engine::Snapshot& snapshot, std::string_view collection) override;
  Result<bool> exists(engine::Snapshot& snapshot, std::string_view collection) override;
  Status create(engine::Transaction& transaction, std::string_view collection,
                bson::View options) override;
  Result<bson::Document> modify(engine::Transaction& transaction, std::string_view collection,
                                bson::View changes) override;
  Status convert_to_capped(engine::Transaction& transaction, std::string_view collection,
                           int64_t bytes) override;
  Result<bson::Document> validate(engine::Snapshot& snapshot, std::string_view collection) override;
  Status drop(engine::Transaction& transaction, std::string_view collection) override;
  Status rename(engine::Transaction& transaction, std::string_view from,
                const engine::Namespace& to, bool drop_target) override;
  Status drop_database(engine::Transaction& transaction) override;

 private:
  Result<std::vector<engine::CollectionInfo>> list(engine::Snapshot& snapshot,
                                                   bson::View filter) const;
  // Runs a command that servers refuse in a transaction, or that they accept there only with
  // restrictions. If `snapshot` is a transaction, the command runs outside of it, and does not see
  // what the transaction has written. Also fails if the reply has a write error.
  Result<bson::Document> run(engine::Snapshot& snapshot, std::string_view database,
                             bson::View command) const;

  // Like run(), for a command that changes the catalog (Reads::change_catalog()). `collection` is
  // the collection that the command changes, or empty for a command that changes the whole
  // database.
  Result<bson::Document> change(engine::Transaction& transaction, std::string_view collection,
                                std::string_view database, bson::View command) const;

  const std::string name_;
};

}  // namespace gridmount::mongo
