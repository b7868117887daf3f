// The argument STORE of gridstore's subcommands: a store's folder, or for some subcommands the
// connection string of a MongoDB deployment.
//
// Not thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/local/open_store.h"
#include "engine/mongo/mongo_store.h"
#include "engine/store.h"

namespace CLI {
class App;
}

namespace gridmount::tools {

// Adds the argument STORE to `command`. The parser sets `store` when it parses the arguments, so
// `store` must live until then. The parser refuses a connection string.
void add_store_argument(CLI::App& command, std::filesystem::path& store);

struct StoreArgument {
  std::string text;  // as given: a path or a connection string
  std::filesystem::path password_file;
  std::optional<double> server_seconds;  // the value of --server-timeout

  bool is_deployment() const;
  std::filesystem::path folder() const { return text; }
  // Returns `text` for messages. If `text` is a connection string, leaves out the user, the
  // password and the options.
  std::string shown() const;
};

// Adds the argument STORE to a subcommand that also works on deployments, and the options
// --password-file and --server-timeout. `argument` must live until the subcommand runs.
void add_store_or_deployment(CLI::App& command, StoreArgument& argument);

// Returns how to connect to the deployment. May read a password from the terminal. Fails as
// uri_with_password() does (password.h).
Result<mongo::ConnectOptions> connect_options(const StoreArgument& argument);

// A store that is open for a subcommand.
struct StoreInUse {
  std::unique_ptr<engine::Store> store;
  std::optional<local::Owner> owner;  // the process beside which a store in a folder was opened
  // The database that the connection string names, or empty if it names none.
  std::string database;
  bool is_deployment = false;
};

// Fails with BadValue for a mistyped connection string, and if options for deployments are given
// with a folder.
Status check_fits(const StoreArgument& argument);

// Opens the store in a folder with `options`, or connects to a deployment. For a deployment, only
// options.read_only has an effect: if it is true, reads may go to any member that readPreference
// allows. Fails as check_fits() does, for a folder as command_line::open_store() does, and for a
// deployment as mongo::database_of(), connect_options() and mongo::connect() do. May read a
// password from the terminal.
Result<StoreInUse> open_argument(const StoreArgument& argument, const local::OpenOptions& options);

// Returns the database that --db (`given`) or the connection string (`named`) selects, or an empty
// string if both are empty. Fails with BadValue if they name different databases.
Result<std::string> selected_database(const std::string& named, const std::string& given);

}  // namespace gridmount::tools
