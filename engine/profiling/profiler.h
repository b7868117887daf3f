// The profiler: records what operations did and how long they took, per database, in the capped
// collection system.profile. Source: MongoDB manual, "Database Profiler", "Database Profiler
// Output".
//
// Operations only queue their records. A thread of the profiler writes them, so that an operation
// within a transaction can be recorded as well.
//
// Thread-safety: thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/profiling/operation.h"
#include "engine/store.h"

namespace gridmount::profiling {

struct Settings {
  int level = 0;  // 0: nothing, 1: slow operations, 2: all
  std::chrono::milliseconds slow{100};
  double sample_rate = 1;  // at level 1: the share of slow operations that is recorded
  // If set, this filter decides at level 1 instead of `slow` and `sample_rate`.
  std::shared_ptr<const OperationFilter> filter = nullptr;
};

class Profiler {
 public:
  // The store must outlive it. The profiler of a read-only store stays at level 0.
  explicit Profiler(engine::Store& store);
  // Writes the queued records.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  Settings settings(std::string_view database) const GM_EXCLUDES(mutex_);
  // Fails with BadValue for a level other than 0, 1 or 2, or a rate outside 0 to 1.
  Status set(std::string_view database, const Settings& settings) GM_EXCLUDES(mutex_);

  // Returns whether some database has a level other than 0. Costs one load. Ask this before
  // preparing a record.
  bool active() const { return active_.load(std::memory_order_relaxed); }
  // Returns whether an operation of that duration must be recorded.
  bool wants(const engine::Namespace& ns, std::chrono::microseconds duration) const
      GM_EXCLUDES(mutex_);
  // Returns the filter of a database, or null. Costs one load if no database has a filter.
  std::shared_ptr<const OperationFilter> filter(std::string_view database) const
      GM_EXCLUDES(mutex_);
  // Records an operation. At level 1 an operation that its database's filter does not match is left
  // out.
  void record(Operation operation) GM_EXCLUDES(mutex_);
  // Returns when everything recorded before the call is written. Must not be called within a
  // transaction.
  void flush() GM_EXCLUDES(mutex_);

 private:
  void run() GM_EXCLUDES(mutex_);
  void write(std::deque<Operation>& operations);

  engine::Store& store_;
  std::atomic<bool> active_ = false;
  std::atomic<bool> filters_ = false;  // some database has a filter
  mutable Mutex mutex_;
  Condition changed_;
  std::map<std::string, Settings, std::less<>> settings_ GM_GUARDED_BY(mutex_);
  std::deque<Operation> waiting_ GM_GUARDED_BY(mutex_);
  uint64_t recorded_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t written_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t dropped_ GM_GUARDED_BY(mutex_) = 0;
  bool ends_ GM_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace gridmount::profiling
