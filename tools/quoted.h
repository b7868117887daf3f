// Formats names in messages as mongofiles does: in backquotes, or escaped in double quotes where
// backquotes cannot show them (Go's verb %#q).
//
// Thread-safe: functions without state.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gridmount::tools {

std::string in_quotes(std::string_view text);

// Returns "`a`, `b`".
std::string quoted_list(std::span<const std::string> texts);

// Returns the message that Go's library has for an errno: "open a.txt: no such file or directory".
std::string system_error_text(std::string_view operation, std::string_view name, int error_number);

}  // namespace gridmount::tools
