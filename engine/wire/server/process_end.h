// Ends a process in which a command is still running although it was interrupted.
//
// Thread-safe.
#pragma once

#include <chrono>

namespace gridmount::wire {

// How long the rest of the shutdown may take. For example, it makes committed data durable, and may
// have to wait until the running command has ended.
inline constexpr std::chrono::seconds kPatienceWithStuck{45};

// Starts a timer and returns immediately. If the process has not ended after `patience`, the timer
// ends the process with the exit status `status`. For the store this is like a kill: the store
// stays consistent and loses no committed data. The timer cannot be cancelled. Throws
// std::system_error if its thread cannot start.
void end_process_within(std::chrono::milliseconds patience, int status);

}  // namespace gridmount::wire
