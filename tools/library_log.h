// What the engine logs, in programs that run for one command.
//
// Thread-safety: to be called once, before there are other threads.
#pragma once

#include <functional>
#include <string>

namespace gridmount::tools {

// Has warnings and errors go to `tell`, which is called by one thread at a time, with one line
// without its end; by itself the logger would write to stdout, which is the command's own. What is
// only information is left out.
void tell_warnings(std::function<void(const std::string& line)> tell);

}  // namespace gridmount::tools
