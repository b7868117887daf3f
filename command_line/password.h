// Reads a password from somewhere that other users of the machine cannot see.
//
// Not thread-safe: for the main thread, as it may read from the terminal.
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/error.h"

namespace gridmount::command_line {

// Asks for the password: on a terminal without echo, or else reads the first line of standard
// input. Fails with FailedToParse if it is empty.
Result<std::string> ask_password();

// Reads the first line of the file. Fails with FailedToParse if it is empty, or cannot be read.
Result<std::string> read_password(const std::filesystem::path& file);

// Returns the connection string with the password of its user. If the string names a user and no
// password (lacks_password()), the password is the first line of `file`, or the value of the
// variable GRIDMOUNT_PASSWORD, or is asked for. An empty `file` means that none is given. Fails
// with BadValue if there is no password, or if `file` is given and the string needs none.
Result<std::string> uri_with_password(const std::string& uri, const std::filesystem::path& file);

}  // namespace gridmount::command_line
