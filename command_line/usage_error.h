// Describes in the programs' words what CLI11 finds wrong with a command line.
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
// such as a mistyped command; this reports the unknown word. `app` is what has just been parsed.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace gridmount::command_line
