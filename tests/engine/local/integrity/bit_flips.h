// The common part of the tests that flip bits of a store's file. Each flip is tried in a child
// process, whose exit status reports the outcome.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace gridmount::local {

inline constexpr unsigned kChildSeconds = 60;

// The outcomes of a child.
inline constexpr int kHarmless = 10;
inline constexpr int kReported = 11;
inline constexpr int kSilentDifference = 12;

// Returns the number in an environment variable, or `otherwise` if the variable is not set.
inline uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace gridmount::local
