// The processor time of the process, all of its threads' and the kernel's for them.
#pragma once

#include <time.h>

namespace gridmount::bench {

inline double process_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace gridmount::bench
