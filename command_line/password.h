// Reads a password from somewhere that other users of the machine cannot see.
//
// Not thread-safe. Only the main thread may call these functions, because they may read from the
// terminal.
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/error.h"

namespace gridmount::command_line {

// Reads the password from the first line of standard input. If this is a terminal, asks for the
// password on stderr and turns off the echo. Fails with FailedToParse if the line is empty.
Result<std::string> ask_password();

// Returns the first line of the file. Fails with FailedToParse if the line is empty or the file
// cannot be read.
Result<std::string> read_password(const std::filesystem::path& file);

// Returns the connection string with the password of its user. Returns it unchanged if it needs no
// password (lacks_password() is false). Otherwise the password is the first line of `file`. If the
// path `file` is empty, the password is the value of the environment variable GRIDMOUNT_PASSWORD
// or, if that is not set, the result of ask_password(). Fails with FailedToParse as read_password()
// does, and with BadValue if ask_password() gets no password, or if `file` is given and the string
// needs no password.
Result<std::string> uri_with_password(const std::string& uri, const std::filesystem::path& file);

}  // namespace gridmount::command_line
