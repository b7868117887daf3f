// Several transfers at once, for --jobs.
//
// Thread-safe: a function without state. What a transfer uses must be thread-safe: the store, the
// bucket, the log and the options are, and each transfer has its own streams and files.
#pragma once

#include <cstddef>
#include <functional>

#include "engine/base/error.h"

namespace gridmount::tools {

// Calls `transfer` with each number below `count`, in order, on at most `jobs` threads at once.
// With one job, or one number, calls it on the calling thread. After an error no more transfers
// begin, and those that have begun are waited for. Returns the error of the lowest number.
Status run_transfers(int jobs, size_t count, const std::function<Status(size_t)>& transfer);

}  // namespace gridmount::tools
