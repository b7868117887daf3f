// The end of a process in which a command goes on though it was told to end.
#pragma once

#include <chrono>

namespace gridmount::wire {

// For what still has to be done then, making durable what was committed: that may wait for the
// command.
inline constexpr std::chrono::seconds kPatienceWithStuck{45};

// Ends the process with `status` after `patience`, unless it has ended by then, as a crash would:
// the store is whole, but what was not durable is lost. Thread-safe; returns at once.
void end_process_within(std::chrono::milliseconds patience, int status);

}  // namespace gridmount::wire
