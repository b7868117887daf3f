// Chooses random calls for a user of a mount that crashes. Each call will succeed.
#pragma once

#include <random>

#include "tests/fuse/crash/call.h"

namespace gridmount::fuse::testing {

// Returns a program of `calls` to twice as many calls, in all sessions together. In addition, it
// closes all files and mappings at the end of each session.
Program random_program(std::mt19937_64& random, size_t calls, size_t sessions);

}  // namespace gridmount::fuse::testing
