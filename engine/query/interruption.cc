#include "engine/query/interruption.h"

#include <cstdint>

namespace gridmount::query {
namespace {

constexpr uint32_t kRoundsPerLook = 64;

thread_local InterruptionScope* innermost = nullptr;
thread_local uint32_t rounds = 0;

}  // namespace

InterruptionScope::InterruptionScope(Interruption& interruption)
    : interruption_(interruption), around_(innermost) {
  innermost = this;
}

InterruptionScope::~InterruptionScope() {
  innermost = around_;
}

Status check_interruption() {
  if (++rounds % kRoundsPerLook != 0) return {};
  for (InterruptionScope* scope = innermost; scope != nullptr; scope = scope->around_) {
    GM_TRY(scope->interruption_.check());
  }
  return {};
}

}  // namespace gridmount::query
