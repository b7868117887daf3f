// Chooses random calls for a user of a mount that crashes. Each call will succeed.
#pragma once

#include <random>

#include "tests/fuse/crash/call.h"

namespace gridmount::fuse::testing {

// Returns a program of at least `calls` and at most twice as many calls, in all sessions together.
// All files and mappings are closed at the end of each session.
Program random_program(std::mt19937_64& random, size_t calls, size_t sessions);

}  // namespace gridmount::fuse::testing
