// Handles the log lines of the engine, in programs that run one command.
//
// Thread-safety: must be called once, before there are other threads.
#pragma once

#include <functional>
#include <string>

namespace gridmount::tools {

// Calls `report` for each warning and each error, with one line without its newline. Only one
// thread at a time calls it. Messages that are only information are dropped. Without this function,
// the logger would write to stdout, which is for the command's output.
void report_warnings(std::function<void(const std::string& line)> report);

}  // namespace gridmount::tools
