// What CLI11 finds wrong with a command line, in the programs' words.
//
// Thread-safety: a free function without state.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace gridmount::command_line {

// One line that names the word that is wrong. CLI11 itself says what else is missing before it
// names a word that nobody knows, as a mistyped command. `app` is what has just been parsed.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace gridmount::command_line
