// Decides whether the contents of an image are allowed by the users' calls and their times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuse/crash/call.h"
#include "tests/fuse/crash/model.h"
#include "tests/fuse/crash/user.h"

namespace gridmount::fuse::testing {

// Checks `found`, the contents of an image of the moment `stamp` (CrashClock). The mount has chunks
// of `chunk_bytes` bytes. After a kill of the daemon, everything committed must be there. After a
// power loss, everything durable must be there. Returns what is wrong, or an empty string.
std::string problem_with_image(const std::vector<Program>& programs, CrashClock& clock,
                               uint64_t stamp, bool killed, size_t chunk_bytes,
                               const FoundTree& found);

}  // namespace gridmount::fuse::testing
