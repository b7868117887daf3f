// Handles the log lines of the engine, in programs that run one command.
//
// Thread-safety: must be called once, before there are other threads.
#pragma once

#include <functional>
#include <string>

namespace gridmount::tools {

// Calls `report` for each warning and each error, with one line without a newline (log_text()).
// Only one thread at a time calls `report`. Drops all other messages. Without report_warnings(),
// the logger would write to stdout, which is for the command's output.
void report_warnings(std::function<void(const std::string& line)> report);

}  // namespace gridmount::tools
