// What the mount's operations have done so far: how many of each there were, how long they took
// and how many failed.
//
// Durations are counted in classes that grow with the duration, eight of them for each doubling, so
// that a percentile is told within an eighth of its value and the memory does not grow. Counters
// stand several times over, and each thread counts in one set of them, so that threads seldom write
// to the same line of memory. Counting takes no lock.
//
// Thread-safety: thread-safe. What is counted while summaries() reads may be in it or not.
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

// The classes that durations are counted in. Nothing is told apart below 256 ns, and nothing above
// 2^40 ns, which is 18 minutes.
class DurationClasses {
 public:
  static constexpr size_t kCount = 257;

  static size_t of(std::chrono::nanoseconds duration);
  // The shortest duration that is beyond the class.
  static std::chrono::nanoseconds end(size_t number);
};

struct OperationSummary {
  std::string operation;
  uint64_t count = 0;            // that have ended, errors included
  uint64_t ordinary_errors = 0;  // as is_ordinary() has it
  uint64_t failures = 0;         // all other errors
  std::chrono::nanoseconds total{0};
  std::chrono::nanoseconds longest{0};
  std::array<uint64_t, DurationClasses::kCount> classes{};

  // What that share of the operations did not exceed; 0 without any. 0 < share <= 1.
  std::chrono::nanoseconds percentile(double share) const;
};

class Statistics {
 public:
  // Further ones are counted together, as kOthers.
  static constexpr size_t kOperationsMax = 64;
  static constexpr const char* kOthers = "others";

  Statistics() = default;
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;

  // Of an operation that has ended. `operation` is never freed: a literal.
  void count(const char* operation, std::chrono::nanoseconds duration);
  // The errno that it was answered with. The operation itself is counted when it ends.
  void count_error(const char* operation, int error_number);

  // Those that there were, by name.
  std::vector<OperationSummary> summaries() const;

 private:
  static constexpr size_t kShards = 4;

  // One shard's share of an operation. Written by the threads of that shard, read by all.
  struct alignas(64) Counters {
    std::atomic<uint64_t> ordinary_errors{0};
    std::atomic<uint64_t> failures{0};
    std::atomic<uint64_t> total_ns{0};
    std::atomic<uint64_t> longest_ns{0};
    std::array<std::atomic<uint64_t>, DurationClasses::kCount> classes{};
  };
  using Shards = std::array<Counters, kShards>;

  // Taken once and for good. The counters are set before the name: who finds the name finds them.
  struct Place {
    std::atomic<const char*> name{nullptr};
    std::unique_ptr<Shards> shards;
  };

  static OperationSummary summary_of(const char* operation, const Shards& shards);
  Counters& counters_of(const char* operation);
  // The operation's place, or the free one that is to be its, or null if there is none.
  Place* find_place(const char* operation);
  Shards* take_place(const char* operation) GM_EXCLUDES(taking_);

  Mutex taking_;  // of a place
  // By a hash of the name; one that finds its place taken has the next.
  std::array<Place, kOperationsMax> places_;
  Shards others_;
};

// Counts an operation from here until it is answered, or to the end of the scope if it is not. Who
// has been answered may run before the thread that answered gets on, whose wait for the processor
// is no part of the operation.
//
// A thread has at most one at a time.
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

  // To be called by an operation's thread when it is about to send the answer. What is sent outside
  // of operations, or again, changes nothing.
  static void end_current() {
    if (current_ != nullptr) current_->end();
  }

  std::chrono::steady_clock::time_point begin() const { return begin_; }

 private:
  void end() {
    statistics_.count(operation_, std::chrono::steady_clock::now() - begin_);
    current_ = nullptr;
  }

  // This thread's, while its clock runs.
  static inline thread_local Measurement* current_ = nullptr;

  Statistics& statistics_;
  const char* const operation_;
  const std::chrono::steady_clock::time_point begin_;
};

}  // namespace gridmount::fuse
