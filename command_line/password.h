// Reads a password from somewhere that other users of the machine cannot see.
//
// Not thread-safe. Only the main thread may call these functions, because they may read from the
// terminal.
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/error.h"

namespace gridmount::command_line {

// Returns the first line of standard input, without its line end ("\n" or "\r\n"). Reads no byte
// after the line, because `put --local -` reads the rest. If standard input is a terminal, asks for
// the password on stderr and turns off the echo. Fails with FailedToParse if the line is empty or
// there is none.
Result<std::string> ask_password();

// Returns the first line of the file, without its line end ("\n" or "\r\n"). Fails with
// FailedToParse if the line is empty or the file cannot be read.
Result<std::string> read_password(const std::filesystem::path& file);

// Returns the connection string with the password of its user. Returns it unchanged if it needs no
// password (lacks_password() is false). Otherwise the password is the first line of `file`. If no
// file is given (`file` is an empty path), the password is the value of the environment variable
// GRIDMOUNT_PASSWORD, even if this value is empty. If the variable is not set, the password is the
// result of ask_password(). Fails with the error of read_password(). If ask_password() fails, fails
// with BadValue instead, and the message names --password-file and GRIDMOUNT_PASSWORD. Fails with
// BadValue if `file` is given and the string needs no password.
Result<std::string> uri_with_password(const std::string& uri, const std::filesystem::path& file);

}  // namespace gridmount::command_line
