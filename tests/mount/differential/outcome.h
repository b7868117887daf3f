// The outcome of a system call. If the two sides differ, the test has found a bug.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

namespace gridmount::differential {

struct Outcome {
  int64_t value = 0;  // what the call returned; 0 for a descriptor, whose number is arbitrary
  int error = 0;      // errno if it failed
  std::string seen;   // everything else that must be equal: bytes read, names listed, a target

  bool operator==(const Outcome&) const = default;
};

// Must be called before anything else can set errno.
inline Outcome outcome_of(int64_t returned, std::string seen = {}) {
  if (returned < 0) return {.value = -1, .error = errno, .seen = {}};
  return {.value = returned, .error = 0, .seen = std::move(seen)};
}

// Returns an outcome that is an error of this side, whatever the outcome of the other side is.
inline Outcome broken_rule(std::string what) {
  return {.value = -1, .error = 0, .seen = "broken rule: " + std::move(what)};
}

}  // namespace gridmount::differential
