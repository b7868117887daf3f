// A store in the place of a deployment: it says that others change it, and it counts snapshots,
// keeps them waiting or refuses them. Each fetch of chunks takes a snapshot.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "tests/forwarding_store.h"

namespace gridmount::gridfs {

class RemoteStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<std::unique_ptr<engine::Snapshot>> snapshot() override {
    ++snapshots_;
    Result<std::unique_ptr<engine::Snapshot>> snapshot = inner().snapshot();
    if (std::this_thread::get_id() == main_) return snapshot;
    while (others_wait_) {
      ++waiting_;
      others_wait_.wait(true);
      --waiting_;
    }
    if (others_fail_) return fail(ErrorCode::kHostUnreachable, "no server");
    return snapshot;
  }
  engine::Capabilities capabilities() const override { return {.exclusive = false}; }

  int snapshots() const { return snapshots_; }
  // From now on fetches of other threads than the one that made this object wait when they have
  // their snapshot, or go on.
  void let_others_wait(bool wait) {
    others_wait_ = wait;
    others_wait_.notify_all();
  }
  int waiting() const { return waiting_; }
  void let_others_fail() { others_fail_ = true; }

 private:
  const std::thread::id main_ = std::this_thread::get_id();
  std::atomic<int> snapshots_ = 0;
  std::atomic<int> waiting_ = 0;
  std::atomic<bool> others_wait_ = false;
  std::atomic<bool> others_fail_ = false;
};

}  // namespace gridmount::gridfs
