// The processor time of the calling thread, the kernel's for it included.
#pragma once

#include <time.h>

namespace gridmount::bench {

inline double thread_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace gridmount::bench
