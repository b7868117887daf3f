// The time at which an operation must end, and a means for other threads to end it earlier.
//
// Thread-safety: Interrupt is thread-safe. Deadline is a value.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/error.h"

namespace gridmount::engine {

// A deadline that its owner can move, for example to exclude the time between two batches of a
// cursor. After kill() the deadline has passed, and set() no longer moves it.
class Interrupt {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Time at() const {
    return reason_.load(std::memory_order_relaxed) != 0 ? Time::min() : at_.load();
  }
  void set(Time at) { at_.store(at); }
  // Makes the deadline pass at once. Only the reason of the first call is kept.
  void kill(ErrorCode reason) {
    int32_t none = 0;
    reason_.compare_exchange_strong(none, static_cast<int32_t>(reason));
  }
  // Returns the reason that kill() was called with, or nothing if it was not called. The owner
  // reports this code instead of MaxTimeMSExpired.
  std::optional<ErrorCode> reason() const {
    const int32_t reason = reason_.load();
    if (reason == 0) return std::nullopt;
    return ErrorCode{reason};
  }

 private:
  std::atomic<Time> at_{Time::max()};
  std::atomic<int32_t> reason_{0};
};

// The time after which an operation that reads fails with MaxTimeMSExpired (50). It is fixed, or it
// is the time of an Interrupt, which others can move.
class Deadline {
 public:
  using Time = Interrupt::Time;

  // NOLINTNEXTLINE(google-explicit-constructor): a point in time is the usual deadline.
  Deadline(Time at) : at_(at) {}
  explicit Deadline(std::shared_ptr<const Interrupt> interrupt)
      : at_(Time::max()), interrupt_(std::move(interrupt)) {}

  Time at() const { return interrupt_ ? interrupt_->at() : at_; }
  friend bool operator<=(Time now, const Deadline& deadline) { return now <= deadline.at(); }

 private:
  Time at_;
  std::shared_ptr<const Interrupt> interrupt_;
};

}  // namespace gridmount::engine
