// Ends a process in which a command keeps running although it was interrupted.
//
// Thread-safe.
#pragma once

#include <chrono>

namespace gridmount::wire {

// Time for the remaining work, such as making committed data durable, which may have to wait for
// the command.
inline constexpr std::chrono::seconds kPatienceWithStuck{45};

// Ends the process with `status` if it has not ended after `patience`. This has the effect of a
// crash: the store is consistent, but commits that were not durable are lost. Returns at once.
void end_process_within(std::chrono::milliseconds patience, int status);

}  // namespace gridmount::wire
