// Checks the names of the store and the database on a command line before anything is opened or
// created. So a mistake leaves nothing behind.
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
// is the end of the message and says what to do. The string itself, which may hold a password, is
// not repeated.
CLI::Validator store_folder(std::string instead);

// Refuses invalid database names, including the empty one.
CLI::Validator database_name();

// Returns `error`. If it says that the store does not exist, "; '<command> --create' makes one" is
// added to its message. For commands that can create a store.
Error with_create_advice(const Error& error, std::string_view command);

// Returns `error`. If it says that there is no store in the folder, what to give instead is added
// to its message. For commands that need a store.
Error with_folder_advice(const Error& error);

}  // namespace gridmount::command_line
