// Handles the log lines of the engine, in programs that run one command.
//
// Thread-safety: must be called once, before there are other threads.
#pragma once

#include <functional>
#include <string>

namespace gridmount::tools {

// Passes warnings and errors to `report`, which one thread at a time calls, with one line without
// its newline. Without this function the logger would write to stdout, which is for the command's
// output. Messages that are only information are dropped.
void report_warnings(std::function<void(const std::string& line)> report);

}  // namespace gridmount::tools
