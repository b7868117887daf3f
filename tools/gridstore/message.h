// Prints the messages of gridstore's commands on stderr. Each is one line that begins with the
// program's name.
//
// Thread-safe: functions without state.
#pragma once

#include <string_view>

#include "command_line/exit_status.h"
#include "engine/base/error.h"

namespace gridmount::tools {

// Hides the progress line before it prints `text`.
void print_message(std::string_view text);
// Prints the error's message and returns exit_status_of() its code.
ExitStatus print_error(const Error& error);

}  // namespace gridmount::tools
