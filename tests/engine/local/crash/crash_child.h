// Runs a part of a test in its own process, because a broken store may end its process or make it
// loop forever.
#pragma once

#include <functional>
#include <string>

namespace gridmount::local::testing {

// What the job returns in a child process; with that process's status if it ended otherwise, and
// after a minute in any case. What the job changes in memory stays in the child. No other thread
// may be at work in this process. Throws std::runtime_error where there can be no child.
std::string in_child(const std::function<std::string()>& job);

}  // namespace gridmount::local::testing
