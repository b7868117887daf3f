// Returns the processor time of the process in seconds: the time of all its threads, and of the
// kernel on their behalf.
#pragma once

#include <time.h>

namespace gridmount::bench {

inline double process_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace gridmount::bench
