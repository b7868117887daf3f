// The common part of tests that replace the C library's file calls: a function that names the file,
// and a gate that delays syncs.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>

namespace gridmount::local::testing {

// Returns the file name without its folder, or an empty string if the descriptor has none.
inline std::string file_name_of(int fd) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error)
      .filename()
      .string();
}

// While the gate is closed, syncs wait in pass(). Thread-safe.
class SyncGate {
 public:
  void set(bool closed) {
    const std::lock_guard lock(mutex_);
    closed_ = closed;
    changed_.notify_all();
  }
  void wait_for_sync() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }
  // Must be called by each sync. Returns when the gate is open.
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !closed_; });
    --waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  int waiting_ = 0;
};

}  // namespace gridmount::local::testing
