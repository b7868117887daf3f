// Checks the names of the store and the database on a command line before anything is opened or
// created. So a mistake leaves nothing behind. Also adds advice to the errors of opening a store.
//
// Thread-safety: free functions without state.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace CLI {
class Validator;
}

namespace gridmount::command_line {

// Refuses a connection string, which would otherwise be taken for the name of a folder. `instead`
// is the end of the message and says what to do. The message does not repeat the connection string,
// which may have a password.
CLI::Validator store_folder(std::string instead);

// Refuses invalid database names, including the empty one.
CLI::Validator database_name();

// For commands that can create a store. Returns `error`, with "; '<command> --create' makes one" at
// the end of the message if the code is StoreNotFound.
Error with_create_advice(const Error& error, std::string_view command);

// For commands that need an existing store. Returns `error`. If the code is StoreNotFound or
// NotAStore, the message then ends with what the user should give instead.
Error with_folder_advice(const Error& error);

}  // namespace gridmount::command_line
