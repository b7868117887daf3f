// Escapes text so that it is one line of a log or of stderr. The text may contain file names. Other
// people choose these, so a name must not look like a separate log line or like commands to a
// terminal.
//
// Thread-safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace gridmount {

// Returns the text with control characters, C1 included, written as \n, \r, \t, \x1b, and so on. If
// the text is not UTF-8, all non-ASCII bytes are escaped too. Backslashes stay as they are.
std::string log_text(std::string_view text);

}  // namespace gridmount
