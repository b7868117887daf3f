// Text that may hold names of files, as one line of a log or of stderr: a name is up to whoever
// made the file, and must not look like a line of its own or like commands to a terminal.
//
// Thread-safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace gridmount {

// Control characters, those of C1 among them, as \n, \r, \t, \x1b, ...; where the text is not UTF-8
// all bytes beyond ASCII, too. Backslashes stay as they are.
std::string log_text(std::string_view text);

}  // namespace gridmount
