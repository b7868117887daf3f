// --archive[=FILE] of gridstore's commands, as mongodump has it: a flag that may have a value
// behind a '=', so that what stands behind it stays what it is.
//
// Thread-safety: a function without state.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace gridmount::tools {

// What stands for standard input or output in place of a file.
inline constexpr const char* kStandardStream = "-";

// `archive` is the file, or kStandardStream without one; it stays as it is without the flag. It
// must live as long as the command.
void add_archive_flag(CLI::App& command, std::string& archive, const std::string& description);

}  // namespace gridmount::tools
