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

// Returns one line that says what is wrong. If the command line has an unknown word, such as a
// mistyped command, and lacks an argument too, CLI11's own message is about the argument, but this
// line names the unknown word. `app` is the CLI::App that has failed to parse the command line.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace gridmount::command_line
