#include "tests/fuse/crash/broken_store.h"

#include "tests/gridfs/late_chunks.h"

namespace gridmount::fuse::testing {
namespace {

class BrokenStore final : public engine::Store {
 public:
  BrokenStore(engine::Store& store, BrokenPromises broken) : store_(store), broken_(broken) {}

  std::shared_ptr<engine::Database> database(std::string_view name) override {
    std::shared_ptr<engine::Database> database = store_.database(name);
    if (!broken_.late_chunks) return database;
    return gridfs::with_late_chunks(store_, std::move(database));
  }
  Result<std::vector<std::string>> databases(engine::Snapshot& snapshot) override {
    return store_.databases(snapshot);
  }
  Result<std::unique_ptr<engine::Snapshot>> snapshot() override { return store_.snapshot(); }
  Result<std::unique_ptr<engine::Transaction>> begin(engine::TransactionKind kind) override {
    return store_.begin(kind);
  }
  Status make_durable() override {
    return broken_.makes_nothing_durable ? Status() : store_.make_durable();
  }
  Result<int64_t> compact(const engine::Namespace& ns,
                          const std::optional<engine::Deadline>& deadline) override {
    return store_.compact(ns, deadline);
  }
  Result<engine::StoreStats> stats() override { return store_.stats(); }
  bool read_only() const override { return store_.read_only(); }

 private:
  engine::Store& store_;
  const BrokenPromises broken_;
};

}  // namespace

std::unique_ptr<engine::Store> with_broken_promises(engine::Store& store, BrokenPromises broken) {
  return std::make_unique<BrokenStore>(store, broken);
}

}  // namespace gridmount::fuse::testing
