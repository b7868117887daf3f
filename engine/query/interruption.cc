#include "engine/query/interruption.h"

#include <cstdint>
#include <utility>

namespace gridmount::query {
namespace {

// A round of a loop counts as 1,024 steps, because a round evaluates something, and a step may be
// as little as one byte.
constexpr size_t kStepsPerRound = 1024;
constexpr size_t kStepsPerLook = 64 * kStepsPerRound;

thread_local InterruptionScope* innermost = nullptr;
thread_local size_t steps_since_look = 0;

}  // namespace

InterruptionScope::InterruptionScope(Interruption& interruption)
    : interruption_(interruption), around_(innermost) {
  innermost = this;
}

InterruptionScope::~InterruptionScope() {
  innermost = around_;
}

UninterruptedScope::UninterruptedScope() : around_(std::exchange(innermost, nullptr)) {}

UninterruptedScope::~UninterruptedScope() {
  innermost = around_;
}

Status check_interruption_now() {
  steps_since_look = 0;
  for (InterruptionScope* scope = innermost; scope != nullptr; scope = scope->around_) {
    GM_TRY(scope->interruption_.check());
  }
  return {};
}

Status check_interruption_of(size_t steps) {
  if (steps < kStepsPerLook - steps_since_look) {
    steps_since_look += steps;
    return {};
  }
  return check_interruption_now();
}

Status check_interruption() {
  return check_interruption_of(kStepsPerRound);
}

}  // namespace gridmount::query
