// Returns the time for files' timestamps: CLOCK_REALTIME_COARSE, the clock that Linux uses for
// inodes. It shows the time of the last tick, some milliseconds behind CLOCK_REALTIME. The kernel
// uses this clock for the times of files that it has not written back yet. With another clock here,
// a later event could get an earlier time. Thread-safe.
#pragma once

#include <time.h>

namespace gridmount::gridfs {

inline timespec file_time_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

}  // namespace gridmount::gridfs
