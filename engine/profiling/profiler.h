// The profiler: what operations did and how long they took, kept per database in the capped
// collection system.profile. Source: MongoDB manual, "Database Profiler", "Database Profiler
// Output".
//
// Thread-safe. Operations only hand their entries over; a thread of the profiler writes them, so
// that an operation within a transaction can be recorded as well.
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
  double sample_rate = 1;  // of the slow ones at level 1, how many
  // What decides instead of both at level 1; null: they do.
  std::shared_ptr<const OperationFilter> filter = nullptr;
};

class Profiler {
 public:
  // The store outlives it. A read-only store's profiler stays at level 0.
  explicit Profiler(engine::Store& store);
  // Writes what is waiting.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  Settings settings(std::string_view database) const GM_EXCLUDES(mutex_);
  // BadValue for a level that is none of 0, 1 and 2 or a rate outside of 0 to 1.
  Status set(std::string_view database, const Settings& settings) GM_EXCLUDES(mutex_);

  // Some database's level is not 0. Costs one load: to be asked before anything is prepared.
  bool active() const { return active_.load(std::memory_order_relaxed); }
  // Whether record() is to be told of an operation of that length.
  bool wants(const engine::Namespace& ns, std::chrono::microseconds duration) const
      GM_EXCLUDES(mutex_);
  // The filter of a database; null if it has none. Costs one load if no database has one.
  std::shared_ptr<const OperationFilter> filter(std::string_view database) const
      GM_EXCLUDES(mutex_);
  // Leaves out what the filter of its database does, at level 1.
  void record(Operation operation) GM_EXCLUDES(mutex_);
  // Returns when everything recorded before is written. Not to be called within a transaction.
  void flush() GM_EXCLUDES(mutex_);

 private:
  void run() GM_EXCLUDES(mutex_);
  void write(std::deque<Operation>& operations);

  engine::Store& store_;
  std::atomic<bool> active_ = false;
  std::atomic<bool> filters_ = false;  // some database has one
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
