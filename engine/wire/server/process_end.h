// Ends a process in which a command is still running although it was interrupted.
//
// Thread-safe.
#pragma once

#include <chrono>

namespace gridmount::wire {

// The time for the rest of the shutdown. It has to make committed data durable, for example, which
// may have to wait for the command.
inline constexpr std::chrono::seconds kPatienceWithStuck{45};

// Starts a timer and returns at once. If the process has not ended after `patience`, the timer ends
// it with `status`. For the store this is a kill: it stays consistent and loses no committed data.
void end_process_within(std::chrono::milliseconds patience, int status);

}  // namespace gridmount::wire
