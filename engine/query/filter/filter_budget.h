// Limits the total memory of the filters of all running commands. Each filter also has its own
// limit (kFilterBytesMax), but without this budget each of many commands could use that much.
//
// Thread-safety: FilterBudget is thread-safe. A FilterBudgetScope must be destroyed by the thread
// that has created it. One thread at a time may use a FilterReservation.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/base/error.h"

namespace gridmount::query {

// All sizes are in bytes.
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

// While a scope exists, filters parsed by this thread count against `budget` for their whole
// lifetime. Scopes nest, and the innermost one applies. With a null `budget`, there is no limit.
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

// The bytes that one filter has reserved in a budget. The budget is that of the innermost
// FilterBudgetScope of the thread that constructs this object. If this thread has no scope, there
// is no limit. The destructor returns the reserved bytes to the budget.
class FilterReservation {
 public:
  FilterReservation();
  ~FilterReservation();
  FilterReservation(const FilterReservation&) = delete;
  FilterReservation& operator=(const FilterReservation&) = delete;

  // For a filter of up to this size, the caller need not call grow_to().
  static constexpr uint64_t kBytesWithoutReservation = uint64_t{64} << 10;

  // Makes the reservation at least `bytes` large, in steps of 1 MiB. Fails with ExceededMemoryLimit
  // (146) if the budget has no room.
  Status grow_to(uint64_t bytes);

 private:
  const std::shared_ptr<FilterBudget> budget_;
  uint64_t bytes_reserved_ = 0;
};

}  // namespace gridmount::query
