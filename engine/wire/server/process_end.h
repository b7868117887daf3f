// Ends a process in which a command is still running although it was interrupted.
//
// Thread-safe.
#pragma once

#include <chrono>

namespace gridmount::wire {

// How long the rest of the shutdown may take. The shutdown makes committed data durable, for
// example, and may have to wait for the command until it can do so.
inline constexpr std::chrono::seconds kPatienceWithStuck{45};

// Starts a timer and returns at once. If the process has not ended after `patience`, the timer ends
// it with `status`. For the store this is a kill: it stays consistent and loses no committed data.
// The timer cannot be cancelled. Throws std::system_error if its thread cannot start.
void end_process_within(std::chrono::milliseconds patience, int status);

}  // namespace gridmount::wire
