// engine::Collection over a deployment. Each read or write sends one or more commands.
//
// Thread-safety: immutable, so thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/batch_insert.h"
#include "engine/bson/builder.h"
#include "engine/mongo/mongo_snapshot.h"
#include "engine/store.h"

namespace gridmount::mongo {

class MongoCollection final : public engine::Collection, public engine::BatchInserter {
 public:
  explicit MongoCollection(engine::Namespace ns) : ns_(std::move(ns)) {}

  const engine::Namespace& ns() const override { return ns_; }

  Result<std::unique_ptr<engine::Cursor>> find(engine::Snapshot& snapshot, bson::View filter,
                                               const engine::FindOptions& options) override;
  Result<std::optional<bson::View>> find_one(engine::Snapshot& snapshot, bson::View filter,
                                             const engine::FindOptions& options) override;
  Result<int64_t> count(engine::Snapshot& snapshot, bson::View filter,
                        const engine::CountOptions& options) override;
  Result<std::vector<bson::Value>> distinct(engine::Snapshot& snapshot, std::string_view path,
                                            bson::View filter,
                                            const engine::DistinctOptions& options) override;
  Result<std::unique_ptr<engine::Cursor>> aggregate(
      engine::Snapshot& snapshot, bson::View stages,
      const engine::AggregateOptions& options) override;
  Result<bson::Document> explain(engine::Snapshot& snapshot, bson::View filter,
                                 const engine::FindOptions& options,
                                 engine::Verbosity verbosity) override;
  Result<bson::Document> explain_count(engine::Snapshot& snapshot, bson::View filter,
                                       const engine::CountOptions& options,
                                       engine::Verbosity verbosity) override;
  Result<bson::Document> explain_aggregate(engine::Snapshot& snapshot, bson::View stages,
                                           const engine::AggregateOptions& options,
                                           engine::Verbosity verbosity) override;
  void prefetch(engine::Snapshot& /*snapshot*/, bson::View /*filter*/) override {}

  Result<engine::InsertResult> insert(engine::Transaction& transaction, bson::View document,
                                      const engine::InsertOptions& options) override;
  // Sends the documents in as few commands as possible. Each command has at most 10,000 documents,
  // which have at most 16,000,000 bytes together. A larger document is sent alone.
  Status insert_all(engine::Transaction& transaction, std::span<const bson::View> documents,
                    size_t& inserted, const engine::InsertOptions& options = {}) override;
  Result<engine::UpdateResult> update(engine::Transaction& transaction, bson::View filter,
                                      bson::View update,
                                      const engine::UpdateOptions& options) override;
  Result<int64_t> remove(engine::Transaction& transaction, bson::View filter, bool multi,
                         const engine::RemoveOptions& options) override;
  Result<engine::FindAndModifyResult> find_and_modify(
      engine::Transaction& transaction, bson::View filter, bson::View update,
      const engine::FindAndModifyOptions& options) override;

  Status create_index(engine::Transaction& transaction,
                      const engine::IndexDefinition& definition) override;
  Status drop_index(engine::Transaction& transaction, std::string_view name) override;
  // Leaves out indexes that IndexDefinition::parse() refuses, such as geospatial indexes.
  Result<std::vector<engine::IndexDefinition>> indexes(engine::Snapshot& snapshot) override;
  Result<engine::CollectionStats> stats(engine::Snapshot& snapshot) override;
  Result<std::vector<engine::IndexStats>> index_stats(engine::Snapshot& snapshot) override;

 private:
  bson::Builder command(std::string_view name) const;
  Result<bson::Document> run(engine::Snapshot& snapshot, bson::Builder command) const;
  Result<bson::Document> run_apart(engine::Snapshot& snapshot, bson::Builder command) const;
  Result<int64_t> count_by_aggregation(engine::Snapshot& snapshot, bson::View filter,
                                       const engine::CountOptions& options);
  bson::Builder count_command(bson::View filter, const engine::CountOptions& options) const;
  bson::Builder distinct_command(std::string_view path, bson::View filter,
                                 const engine::DistinctOptions& options) const;
  bson::Builder find_command(bson::View filter, const engine::FindOptions& options) const;
  bson::Builder aggregate_command(bson::View stages, const engine::AggregateOptions& options) const;

  const engine::Namespace ns_;
};

}  // namespace gridmount::mongo
