// Decides whether the contents of an image are allowed by the users' calls and their times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuse/crash/call.h"
#include "tests/fuse/crash/model.h"
#include "tests/fuse/crash/user.h"

namespace gridmount::fuse::testing {

// Of an image of the moment `stamp` (CrashClock). After a kill of the daemon what was committed is
// there, after a power loss what was made durable. Empty, or what is wrong.
std::string problem_with_image(const std::vector<Program>& programs, CrashClock& clock,
                               uint64_t stamp, bool killed, const FoundTree& found);

}  // namespace gridmount::fuse::testing
