// Converts durations to the numbers that reports show.
//
// Thread-safety: pure functions.
#pragma once

#include <chrono>

namespace gridmount::fuse {

template <typename Duration>
double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

template <typename Duration>
double in_milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace gridmount::fuse
