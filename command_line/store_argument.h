// What a command line may name as a store and as a database. It is checked before anything is
// opened or made, so that a mistake leaves nothing behind.
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

// "mongodb://..." and "mongodb+srv://...": how drivers name a MongoDB deployment.
bool is_connection_string(std::string_view text);

// Refuses a connection string, which would otherwise be the name of a folder. `instead` ends the
// message and says what to do. The string itself, which may hold a password, is not repeated.
CLI::Validator store_folder(std::string instead);

// Refuses what is not the name of a database: the empty name, too.
CLI::Validator database_name();

// An error of opening a store by a command that can make one: where there is none, its message
// goes on with "; '<command> --create' makes one".
Error with_create_advice(const Error& error, std::string_view command);

}  // namespace gridmount::command_line
