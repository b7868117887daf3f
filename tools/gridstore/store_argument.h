// The argument STORE of gridstore's subcommands.
//
// Not thread-safe.
#pragma once

#include <filesystem>

namespace CLI {
class App;
}

namespace gridmount::tools {

// Adds the argument STORE to `command`. `store` is set when the arguments are parsed, so it must
// live until then. A connection string is refused.
void add_store_argument(CLI::App& command, std::filesystem::path& store);

}  // namespace gridmount::tools
