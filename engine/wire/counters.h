// Counts operations and their durations, for serverStatus and top.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/base/thread_safety.h"
#include "engine/bson/builder.h"
#include "engine/store.h"
#include "engine/wire/command.h"

namespace gridmount::wire {

class Counters {
 public:
  Counters();

  // `command` must be an element of all_commands(), not a copy.
  void record_command(const Command& command, bool failed);
  // Adds to the counter of this kind. For a write command, `operations` is the number of its
  // statements.
  void record_operations(OperationKind kind, int64_t operations = 1);
  // Adds an operation and its duration to the totals of one namespace, which top reports. Counts
  // the first 10,000 namespaces only.
  void record_time(const engine::Namespace& ns, OperationKind kind,
                   std::chrono::microseconds duration) GM_EXCLUDES(mutex_);
  void record_error(bool is_user_error) { ++(is_user_error ? user_asserts_ : regular_asserts_); }

  void append_opcounters(bson::Builder& out) const;
  void append_asserts(bson::Builder& out) const;
  // Appends {find: {failed, total}, ...}.
  void append_commands(bson::Builder& out) const;
  // Appends {"db.c": {total: {time, count}, queries: ..., ...}, ...}, with times in microseconds.
  void append_times(bson::Builder& out) const GM_EXCLUDES(mutex_);

 private:
  static constexpr size_t kKinds = 6;
  struct Total {
    int64_t microseconds = 0;
    int64_t count = 0;
  };
  struct Times {
    Total by_kind[kKinds];
  };
  struct Runs {
    std::atomic<int64_t> total{0};
    std::atomic<int64_t> failed{0};
  };

  std::atomic<int64_t> operations_[kKinds];
  std::atomic<int64_t> regular_asserts_{0};
  std::atomic<int64_t> user_asserts_{0};
  const std::unique_ptr<Runs[]> runs_;  // indexed by the command's position in the table
  mutable Mutex mutex_;
  std::map<std::string, Times> times_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::wire
