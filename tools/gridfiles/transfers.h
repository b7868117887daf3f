// Runs several transfers at the same time, for --jobs.
//
// Thread-safe: a function without state. What a transfer uses must be thread-safe: the store, the
// bucket, the log and the options are, and each transfer has its own streams and files.
#pragma once

#include <cstddef>
#include <functional>

#include "engine/base/error.h"

namespace gridmount::tools {

// Calls `transfer` with each number below `count`, on at most `jobs` threads. The transfers begin
// in the order of the numbers. With one job, or one number, calls `transfer` on the calling thread.
// After an error no more transfers begin, and run_transfers() waits for the transfers that have
// begun. Returns the error of the lowest number that has failed.
Status run_transfers(int jobs, size_t count, const std::function<Status(size_t)>& transfer);

}  // namespace gridmount::tools
