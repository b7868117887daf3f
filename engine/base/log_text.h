// Escapes text so that it is one line of a log or of stderr. The text may contain file names. Other
// people choose file names, so a file name must not be able to look like a separate log line or to
// send control sequences to a terminal.
//
// Thread-safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace gridmount {

// Returns the text with all control characters (C0, C1 and DEL) written as \n, \r, \t, \x1b, and so
// on. If the text is not UTF-8, also escapes all non-ASCII bytes. Does not change backslashes.
std::string log_text(std::string_view text);

}  // namespace gridmount
