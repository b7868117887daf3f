// Runs a part of a test in its own process, because a broken store may end its process or make it
// loop forever.
#pragma once

#include <functional>
#include <string>

namespace gridmount::local::testing {

// Runs the job in a child process and returns what the job returns. If the process ends otherwise,
// or after a minute, the result describes its status. Changes by the job to memory stay in the
// child. This process must have no other thread at work. Throws std::runtime_error if no child can
// be made.
std::string in_child(const std::function<std::string()>& job);

}  // namespace gridmount::local::testing
