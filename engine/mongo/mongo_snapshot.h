// Snapshot and Transaction over a deployment: a connection, and the documents that reads have
// returned.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "engine/base/error.h"
#include "engine/mongo/connection.h"
#include "engine/mongo/transaction_queue.h"
#include "engine/store.h"

namespace gridmount::mongo {

// The common part of both. Used by one thread at a time.
class Reads {
 public:
  explicit Reads(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Connection& connection() { return *connection_; }
  // Keeps a document for as long as this exists.
  bson::View keep(bson::Document document) {
    kept_.push_back(std::move(document));
    return kept_.back();
  }

 private:
  std::unique_ptr<Connection> connection_;
  std::deque<bson::Document> kept_;
};

class ReadsHolder {
 public:
  virtual ~ReadsHolder() = default;
  const std::shared_ptr<Reads>& reads() const { return reads_; }

 protected:
  explicit ReadsHolder(std::shared_ptr<Reads> reads) : reads_(std::move(reads)) {}

 private:
  std::shared_ptr<Reads> reads_;
};

class MongoSnapshot final : public engine::Snapshot, public ReadsHolder {
 public:
  explicit MongoSnapshot(std::unique_ptr<Connection> connection)
      : ReadsHolder(std::make_shared<Reads>(std::move(connection))) {}

  // A snapshot holds nothing that others wait for (M1).
  Status pause() override { return {}; }
  Status resume() override { return {}; }
  void observe(std::shared_ptr<engine::ReadObserver> /*observer*/) override {}
};

class MongoTransaction final : public engine::Transaction, public ReadsHolder {
 public:
  MongoTransaction(std::unique_ptr<Connection> connection, QueuePlace place)
      : ReadsHolder(std::make_shared<Reads>(std::move(connection))), place_(std::move(place)) {}

  Status commit(engine::Durability durability) override;
  Status pause() override {
    return fail(ErrorCode::kIllegalOperation, "a transaction cannot be paused");
  }
  Status resume() override { return pause(); }
  void observe(std::shared_ptr<engine::ReadObserver> /*observer*/) override {}
  void observe_writes(std::shared_ptr<engine::WriteObserver> /*observer*/) override {}

 private:
  QueuePlace place_;
};

// Fails with IllegalOperation if the snapshot is of another implementation.
Result<std::shared_ptr<Reads>> reads_of(engine::Snapshot& snapshot);

}  // namespace gridmount::mongo
