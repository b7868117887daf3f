// Runs a part of a test in its own process, because a broken store may end the process or make it
// loop for ever.
#pragma once

#include <functional>
#include <string>

namespace gridmount::local::testing {

// Runs the job in a child process and returns the result of the job. If the child ends in another
// way, or a signal ends it after a minute, the result describes its status. Changes that the job
// makes to memory stay in the child. While this function runs, no other thread of this process may
// be working. Throws std::runtime_error if no child can be made.
std::string in_child(const std::function<std::string()>& job);

}  // namespace gridmount::local::testing
