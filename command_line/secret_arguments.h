// Hides the secrets of the command line. Every user of the machine can read the command line in the
// list of processes.
//
// Not thread-safe: must be called before the first thread starts.
#pragma once

#include <span>
#include <string>

namespace gridmount::command_line {

// Writes 'x' over each of `secrets` in `arguments`, which must be the process's own arguments. A
// secret is an argument of its own or the end of an option ("--password=SECRET"). Also writes 'x'
// over the passwords and tokens in connection strings.
void hide_secrets(std::span<char*> arguments, std::span<const std::string> secrets);

}  // namespace gridmount::command_line
