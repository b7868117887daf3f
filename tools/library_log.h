// Handles what the engine logs, in programs that run for one command.
//
// Thread-safety: must be called once, before there are other threads.
#pragma once

#include <functional>
#include <string>

namespace gridmount::tools {

// Passes warnings and errors to `report`. One thread at a time calls it, with one line without its
// newline. Otherwise the logger would write to stdout, which is for the command's output. Messages
// that are only information are dropped.
void report_warnings(std::function<void(const std::string& line)> report);

}  // namespace gridmount::tools
