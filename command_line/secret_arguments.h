// Hides the secrets of the command line, which every user of the machine can read in the list of
// processes.
//
// Not thread-safe: must be called before the first thread starts.
#pragma once

#include <span>
#include <string>

namespace gridmount::command_line {

// Writes 'x' over each of `secrets` in `arguments`, which are the process's own. A secret is the
// value of an option, attached to the option or not. Also writes 'x' over the passwords and tokens
// of a connection string.
void hide_secrets(std::span<char*> arguments, std::span<const std::string> secrets);

}  // namespace gridmount::command_line
