// The flag --archive[=FILE] of gridstore's commands, as in mongodump. A value must be attached with
// '=', so that a separate argument after the flag keeps its own meaning.
//
// Thread-safe: a function without state.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace gridmount::tools {

// Names standard input or output in place of a file.
inline constexpr const char* kStandardStream = "-";

// Sets `archive` to the file, or to kStandardStream if the flag has no value. Without the flag,
// `archive` is unchanged. `archive` must live as long as the command.
void add_archive_flag(CLI::App& command, std::string& archive, const std::string& description);

}  // namespace gridmount::tools
