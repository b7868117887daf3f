// Stands in for a store of a deployment. It says that others change the store. It also counts
// snapshots, and can block or refuse them. Each fetch of chunks takes a snapshot.
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
  // In a deployment, a short snapshot is like any other.
  Result<std::unique_ptr<engine::Snapshot>> short_snapshot() override { return snapshot(); }
  engine::Capabilities capabilities() const override { return {.exclusive = false}; }

  int snapshots() const { return snapshots_; }
  // If `blocks` is true, fetches wait after they have taken their snapshot. If it is false, they
  // continue. Fetches of the thread that made this object never wait.
  void block_fetches(bool blocks) {
    blocks_fetches_ = blocks;
    blocks_fetches_.notify_all();
  }
  int waiting() const { return waiting_; }
  // From now on, snapshots of other threads fail with HostUnreachable.
  void fail_fetches() { fails_fetches_ = true; }

 private:
  const std::thread::id main_ = std::this_thread::get_id();
  std::atomic<int> snapshots_ = 0;
  std::atomic<int> waiting_ = 0;
  std::atomic<bool> blocks_fetches_ = false;
  std::atomic<bool> fails_fetches_ = false;
};

}  // namespace gridmount::gridfs
