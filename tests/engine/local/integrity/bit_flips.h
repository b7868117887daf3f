// What tests that change bits of a store's file have in common: each change is tried in a child
// process, which says by its exit status what became of it.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace gridmount::local {

inline constexpr unsigned kChildSeconds = 60;

// What a child found.
inline constexpr int kHarmless = 10;
inline constexpr int kReported = 11;
inline constexpr int kSilentDifference = 12;

// Of an environment variable.
inline uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace gridmount::local
