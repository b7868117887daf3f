// The clock of files' times: Linux's for inodes, that of its last tick, some milliseconds behind
// CLOCK_REALTIME. The kernel takes it for the times it keeps while it writes back; with another one
// of ours, what has happened later could seem to be earlier.
#pragma once

#include <time.h>

namespace gridmount::gridfs {

inline timespec file_time_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

}  // namespace gridmount::gridfs
