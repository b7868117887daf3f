// How messages show names, as mongofiles has them: in backquotes, or escaped in double quotes where
// backquotes cannot show them (Go's verb %#q).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gridmount::tools {

std::string in_quotes(std::string_view text);

// `a`, `b`
std::string quoted_list(std::span<const std::string> texts);

// The text of an errno as Go's library has it: "open a.txt: no such file or directory".
std::string system_error_text(std::string_view operation, std::string_view name, int error_number);

}  // namespace gridmount::tools
