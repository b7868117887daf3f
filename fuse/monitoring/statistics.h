// Statistics of the mount's operations: how many of each kind there were, how long they took, and
// how many failed.
//
// Durations are counted in classes that grow with the duration, eight for each doubling. So a
// percentile is accurate to an eighth of its value, and memory use does not grow. There are several
// sets of counters. Each thread uses one set, so that threads seldom write to the same cache line.
// Counting takes no lock, except for the first operation of each kind.
//
// Thread-safe. An operation that is counted while summaries() reads may be included or not.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/thread_safety.h"

namespace gridmount::fuse {

// The classes of durations. Durations below 256 ns share one class. The last class also has all
// durations from 2^40 ns on, which is 18 minutes.
class DurationClasses {
 public:
  static constexpr size_t kCount = 257;

  // Returns the number of the class that has the duration.
  static size_t of(std::chrono::nanoseconds duration);
  // Returns the shortest duration that is longer than all durations of the class. For the last
  // class, which has no end, returns 2^40 ns.
  static std::chrono::nanoseconds end(size_t number);
};

struct OperationSummary {
  std::string operation;
  uint64_t count = 0;            // operations that have ended, errors included
  uint64_t ordinary_errors = 0;  // errors for which is_ordinary() holds
  uint64_t failures = 0;         // all other errors
  std::chrono::nanoseconds total{0};
  std::chrono::nanoseconds longest{0};
  std::array<uint64_t, DurationClasses::kCount> classes{};

  // Returns the duration that this share of the operations did not exceed, or 0 if there were no
  // operations. 0 < share <= 1.
  std::chrono::nanoseconds percentile(double share) const;
};

class Statistics {
 public:
  // The maximum number of kinds of operations. Further kinds are counted together, as kOthers.
  static constexpr size_t kOperationsMax = 64;
  static constexpr const char* kOthers = "others";

  Statistics() = default;
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;

  // Counts an operation that has ended. `operation` must be a literal, because the pointer is kept.
  void count(const char* operation, std::chrono::nanoseconds duration);
  // Counts the errno of a reply. `operation` must be a literal here too. The operation itself is
  // counted when it ends.
  void count_error(const char* operation, int error_number);

  // Returns the operations that have occurred, by name.
  std::vector<OperationSummary> summaries() const;

 private:
  static constexpr size_t kShards = 4;

  // The counters of one operation in one shard. The threads of the shard write them, and all
  // threads read them.
  struct alignas(64) Counters {
    std::atomic<uint64_t> ordinary_errors{0};
    std::atomic<uint64_t> failures{0};
    std::atomic<uint64_t> total_ns{0};
    std::atomic<uint64_t> longest_ns{0};
    std::array<std::atomic<uint64_t>, DurationClasses::kCount> classes{};
  };
  using Shards = std::array<Counters, kShards>;

  // The slot of an operation. Once taken, it is never released. The counters are set before the
  // name, so a thread that finds the name also finds the counters.
  struct Slot {
    std::atomic<const char*> name{nullptr};
    std::unique_ptr<Shards> shards;
  };

  static OperationSummary summary_of(const char* operation, const Shards& shards);
  Counters& counters_of(const char* operation);
  // Returns the slot of the operation or, if it has none, the free slot that it should take.
  // Returns null if no slot is free.
  Slot* find_slot(const char* operation);
  Shards* take_slot(const char* operation) GM_EXCLUDES(taking_);

  Mutex taking_;  // held while a slot is taken
  // Indexed by a hash of the name. If that slot is taken, the next one is used.
  std::array<Slot, kOperationsMax> slots_;
  Shards others_;
};

// Measures an operation from construction until its reply, or to the end of the scope if there is
// no reply. The measurement ends just before the reply is sent, because the program that gets the
// reply may run before the thread that replied. That thread's wait for the processor is not part of
// the operation.
//
// A thread has at most one Measurement at a time. Not thread-safe.
class Measurement {
 public:
  Measurement(Statistics& statistics, const char* operation)
      : statistics_(statistics), operation_(operation), begin_(std::chrono::steady_clock::now()) {
    assert(current_ == nullptr);
    current_ = this;
  }
  ~Measurement() {
    if (current_ == this) end();
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // Must be called by an operation's thread when it is about to send the reply. Does nothing
  // outside of operations, or if called again.
  static void end_current() {
    if (current_ != nullptr) current_->end();
  }

  std::chrono::steady_clock::time_point begin() const { return begin_; }

 private:
  void end() {
    statistics_.count(operation_, std::chrono::steady_clock::now() - begin_);
    current_ = nullptr;
  }

  // The calling thread's Measurement, until it ends.
  static inline thread_local Measurement* current_ = nullptr;

  Statistics& statistics_;
  const char* const operation_;
  const std::chrono::steady_clock::time_point begin_;
};

}  // namespace gridmount::fuse
