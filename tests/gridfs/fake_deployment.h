// Stands in for a store of a deployment: it says that others change it, and it counts snapshots,
// keeps them waiting or refuses them. Each fetch of chunks takes a snapshot.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "tests/forwarding_store.h"

namespace gridmount::gridfs {

class FakeDeployment final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<std::unique_ptr<engine::Snapshot>> snapshot() override {
    ++snapshots_;
    Result<std::unique_ptr<engine::Snapshot>> snapshot = inner().snapshot();
    if (std::this_thread::get_id() == main_) return snapshot;
    while (blocks_fetches_) {
      ++waiting_;
      blocks_fetches_.wait(true);
      --waiting_;
    }
    if (fails_fetches_) return fail(ErrorCode::kHostUnreachable, "no server");
    return snapshot;
  }
  // As a deployment has it, a command like any other.
  Result<std::unique_ptr<engine::Snapshot>> short_snapshot() override { return snapshot(); }
  engine::Capabilities capabilities() const override { return {.exclusive = false}; }

  int snapshots() const { return snapshots_; }
  // True: fetches wait after they have taken their snapshot. False: they continue. Does not concern
  // fetches of the thread that made this object.
  void block_fetches(bool blocks) {
    blocks_fetches_ = blocks;
    blocks_fetches_.notify_all();
  }
  int waiting() const { return waiting_; }
  void fail_fetches() { fails_fetches_ = true; }

 private:
  const std::thread::id main_ = std::this_thread::get_id();
  std::atomic<int> snapshots_ = 0;
  std::atomic<int> waiting_ = 0;
  std::atomic<bool> blocks_fetches_ = false;
  std::atomic<bool> fails_fetches_ = false;
};

}  // namespace gridmount::gridfs
