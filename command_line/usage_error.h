// Describes the errors that CLI11 finds in a command line. All programs use the same words.
//
// Thread-safety: a free function without state.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace gridmount::command_line {

// Returns one line that names the wrong word. CLI11 reports missing arguments before unknown words
// such as a mistyped command. This function reports the unknown word. `app` is the CLI::App that
// has failed to parse the command line.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace gridmount::command_line
