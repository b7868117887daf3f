#include "tests/fuse/crash/broken_store.h"

#include "tests/forwarding_store.h"
#include "tests/gridfs/late_chunks.h"

namespace gridmount::fuse::testing {
namespace {

class BrokenStore final : public ForwardingStore {
 public:
  BrokenStore(engine::Store& store, BrokenPromises broken)
      : ForwardingStore(store), broken_(broken) {}

  std::shared_ptr<engine::Database> database(std::string_view name) override {
    std::shared_ptr<engine::Database> database = inner().database(name);
    if (!broken_.late_chunks) return database;
    return gridfs::with_late_chunks(inner(), std::move(database));
  }
  Status make_durable() override {
    return broken_.makes_nothing_durable ? Status() : inner().make_durable();
  }

 private:
  const BrokenPromises broken_;
};

}  // namespace

std::unique_ptr<engine::Store> with_broken_promises(engine::Store& store, BrokenPromises broken) {
  return std::make_unique<BrokenStore>(store, broken);
}

}  // namespace gridmount::fuse::testing
