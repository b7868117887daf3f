// A database that passes on the requests of all threads to another one, but counts only the
// requests of the thread that made it. So it does not count background work.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
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
  std::function<void()> before_search;  // called once
};

// The counts of the thread that made this object. Other threads get counts that nobody reads.
class ThreadCounts {
 public:
  EngineCounts& here() { return is_here() ? counts_ : of_another_thread(); }
  std::shared_ptr<engine::ReadObserver> reads() const {
    return is_here() ? reads_ : std::make_shared<engine::ReadObserver>();
  }
  EngineCounts take() {
    const engine::ReadObserver read = std::exchange(*reads_, {});
    counts_.keys_examined = read.keys_examined;
    counts_.documents_examined = read.documents_examined;
    return std::exchange(counts_, {});
  }

 private:
  bool is_here() const { return std::this_thread::get_id() == thread_; }
  static EngineCounts& of_another_thread() {
    thread_local EngineCounts counts;
    return counts;
  }

  const std::thread::id thread_ = std::this_thread::get_id();
  EngineCounts counts_;
  const std::shared_ptr<engine::ReadObserver> reads_ = std::make_shared<engine::ReadObserver>();
};

class CountingDatabase final : public engine::Database {
 public:
  explicit CountingDatabase(std::shared_ptr<engine::Database> database)
      : database_(std::move(database)), counts_(std::make_shared<ThreadCounts>()) {}

  // Returns the counts since the last call.
  EngineCounts take() { return counts_->take(); }

  // Calls `call` once, when the next search begins. take() cancels this.
  void before_next_search(std::function<void()> call) {
    counts_->here().before_search = std::move(call);
  }

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
  std::shared_ptr<ThreadCounts> counts_;
};

}  // namespace gridmount::gridfs
