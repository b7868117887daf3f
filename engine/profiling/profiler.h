// The profiler records operations and their durations in each database's capped collection
// system.profile. Source: MongoDB manual, "Database Profiler", "Database Profiler Output".
//
// record() only queues a record, and a thread of the profiler writes it. So a thread that has a
// transaction can call record(), too.
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
  int level = 0;  // 0: records nothing; 1: slow operations; 2: all operations
  // An operation is slow if it takes at least this long.
  std::chrono::milliseconds slow{100};
  double sample_rate = 1;  // at level 1: the share of slow operations that is recorded
  // If set, this filter decides at level 1 instead of `slow` and `sample_rate`.
  std::shared_ptr<const OperationFilter> filter = nullptr;
};

class Profiler {
 public:
  // `store` must outlive the profiler. For a read-only store, all levels stay 0.
  explicit Profiler(engine::Store& store);
  // Writes the queued records.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Returns the settings of the database, or the defaults (level 0) if it has no settings.
  Settings settings(std::string_view database) const GM_EXCLUDES(mutex_);
  // Fails with BadValue for a level other than 0, 1 or 2, or a sample rate outside 0 to 1, and with
  // StoreReadOnly for a level other than 0 if the store is read-only.
  Status set(std::string_view database, const Settings& settings) GM_EXCLUDES(mutex_);

  // Returns whether some database has a level other than 0. Costs one load, so callers should call
  // this before they prepare a record.
  bool active() const { return active_.load(std::memory_order_relaxed); }
  // Returns whether the caller should pass an operation with this duration to record(). At level 1
  // with a sample rate below 1, chooses slow operations at random. At level 1 with a filter,
  // returns true: record() applies the filter.
  bool wants(const engine::Namespace& ns, std::chrono::microseconds duration) const
      GM_EXCLUDES(mutex_);
  // Returns the filter of the database at any level, or null if the database has no filter. Costs
  // one load if no database has a filter.
  std::shared_ptr<const OperationFilter> filter(std::string_view database) const
      GM_EXCLUDES(mutex_);
  // Queues the record of an operation for which wants() has returned true. At level 1, leaves out
  // an operation that does not match its database's filter. If 10,000 records are queued already,
  // drops the record. Logs only the first drop.
  void record(Operation operation) GM_EXCLUDES(mutex_);
  // Waits until the profiler has written all records that were queued before the call. The profiler
  // drops records that it cannot write, and logs this. Must not be called by a thread that has a
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
