#include "engine/query/filter/filter_budget.h"

#include <string>
#include <utility>

namespace gridmount::query {
namespace {

constexpr uint64_t kStepBytes = uint64_t{1} << 20;

thread_local FilterBudgetScope* innermost = nullptr;

}  // namespace

bool FilterBudget::reserve(uint64_t bytes) {
  uint64_t reserved = bytes_reserved_.load();
  do {
    if (bytes > bytes_max_ - reserved) return false;
  } while (!bytes_reserved_.compare_exchange_weak(reserved, reserved + bytes));
  return true;
}

FilterBudgetScope::FilterBudgetScope(std::shared_ptr<FilterBudget> budget)
    : budget_(std::move(budget)), around_(innermost) {
  innermost = this;
}

FilterBudgetScope::~FilterBudgetScope() {
  innermost = around_;
}

FilterReservation::FilterReservation()
    : budget_(innermost == nullptr ? nullptr : innermost->budget_) {}

FilterReservation::~FilterReservation() {
  if (budget_) budget_->release(bytes_reserved_);
}

Status FilterReservation::grow_to(uint64_t bytes) {
  if (!budget_ || bytes <= bytes_reserved_) return {};
  const uint64_t more = (bytes - bytes_reserved_ + kStepBytes - 1) / kStepBytes * kStepBytes;
  if (!budget_->reserve(more)) {
    return fail(ErrorCode::kExceededMemoryLimit,
                "the filters of all commands together need more than " +
                    std::to_string(budget_->bytes_max()) +
                    " bytes of memory; try again when other commands have ended");
  }
  bytes_reserved_ += more;
  return {};
}

}  // namespace gridmount::query
