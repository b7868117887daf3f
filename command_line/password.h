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
// there is none, and as engine/system/system_error.h says if standard input cannot be read.
Result<std::string> ask_password();

// Returns the first line of the file, without its line end ("\n" or "\r\n"). Fails with
// FailedToParse if the file cannot be read, is empty, or begins with an empty line.
Result<std::string> read_password(const std::filesystem::path& file);

// Returns the connection string with the password of its user. If the string needs no password
// (lacks_password() is false), returns it unchanged, or fails with BadValue if `file` is not empty.
// Otherwise the password comes from the first of these sources that exists:
// - The first line of `file`, unless `file` is an empty path. Fails as read_password() does.
// - The value of the environment variable GRIDMOUNT_PASSWORD, even if this value is empty.
// - The result of ask_password(). If ask_password() fails, uri_with_password() fails with BadValue
//   and a message that also names --password-file and GRIDMOUNT_PASSWORD.
Result<std::string> uri_with_password(const std::string& uri, const std::filesystem::path& file);

}  // namespace gridmount::command_line
