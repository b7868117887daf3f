// Memory that the filters of many commands may take together. One filter has a limit of its own
// (kFilterBytesMax); without this one, many large filters at a time take many times as much.
//
// Thread-safe, apart from FilterBudgetScope and FilterReservation, which are used by one thread at
// a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/base/error.h"

namespace gridmount::query {

class FilterBudget {
 public:
  explicit FilterBudget(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  uint64_t bytes_max() const { return bytes_max_; }
  uint64_t bytes_reserved() const { return bytes_reserved_.load(); }

 private:
  friend class FilterReservation;

  bool reserve(uint64_t bytes);
  void release(uint64_t bytes) { bytes_reserved_ -= bytes; }

  const uint64_t bytes_max_;
  std::atomic<uint64_t> bytes_reserved_{0};
};

// While it lives, filters that this thread parses count against `budget`, for as long as they live.
// Scopes nest; the innermost counts.
class FilterBudgetScope {
 public:
  explicit FilterBudgetScope(std::shared_ptr<FilterBudget> budget);
  ~FilterBudgetScope();
  FilterBudgetScope(const FilterBudgetScope&) = delete;
  FilterBudgetScope& operator=(const FilterBudgetScope&) = delete;

 private:
  friend class FilterReservation;

  const std::shared_ptr<FilterBudget> budget_;
  FilterBudgetScope* const around_;
};

// What one filter has of the budget that this thread has when the reservation is made; nothing is
// limited where it has none. The destructor gives it back.
class FilterReservation {
 public:
  FilterReservation();
  ~FilterReservation();
  FilterReservation(const FilterReservation&) = delete;
  FilterReservation& operator=(const FilterReservation&) = delete;

  // A smaller filter needs no reservation.
  static constexpr uint64_t kFreeBytes = uint64_t{64} << 10;

  // Holds that many bytes at least, in steps of 1 MiB. ExceededMemoryLimit (146) if the budget has
  // no room for them.
  Status grow_to(uint64_t bytes);

 private:
  const std::shared_ptr<FilterBudget> budget_;
  uint64_t bytes_reserved_ = 0;
};

}  // namespace gridmount::query
