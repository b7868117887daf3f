// engine::Database on LMDB: a database's name, and the environment whose catalog lists its
// collections.
//
// Thread-safety: immutable, so thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/local/catalog/read_view.h"
#include "engine/store.h"

namespace gridmount::local {

// The environment must outlive a LocalDatabase.
class LocalDatabase : public engine::Database {
 public:
  LocalDatabase(std::string_view name, Environment& environment)
      : name_(name), environment_(environment) {}

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
  engine::Namespace ns(std::string_view collection) const {
    return {name_, std::string(collection)};
  }

  const std::string name_;
  Environment& environment_;
};

}  // namespace gridmount::local
