// An entry of the command table: a command's names, the generic arguments that it accepts, the
// privileges that it needs, and the function that runs it.
//
// Thread-safe: the table is immutable.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/builder.h"
#include "engine/wire/generic_arguments.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

class Call;

// The right to perform an action on a resource. Actions have the names of MongoDB's documentation
// ("Privilege Actions").
struct Privilege {
  // kAnyDatabase: every database, whether it exists or not.
  enum class Resource { kCollection, kDatabase, kAnyDatabase, kCluster };
  Resource resource = Resource::kCollection;
  std::string_view action;
  std::string database = {};    // kCollection and kDatabase only
  std::string collection = {};  // kCollection only
  friend bool operator==(const Privilege&, const Privilege&) = default;
};

// The counter of serverStatus (opcounters) that counts the command.
enum class OperationKind { kCommand, kQuery, kInsert, kUpdate, kRemove, kGetMore };

struct Command {
  // The resource of `actions`: the collection that the command's first field names, the request's
  // database, or the cluster. kNothing: the command needs no privileges.
  enum class Scope { kNothing, kCollection, kDatabase, kCluster };

  std::string_view name;
  std::vector<std::string_view> other_names = {};
  // Runs the command and appends the result to `reply`. The service appends `ok` afterwards. If the
  // function fails, the service replies with the error.
  Status (*run)(Call& call, bson::Builder& reply) = nullptr;

  Scope scope = Scope::kNothing;
  std::vector<std::string_view> actions = {};
  // Returns the privileges of a command whose privileges depend on its arguments. `scope` and
  // `actions` are then not used. Null for other commands. The function must use only the fields
  // `body`, `database` and `sequences` of the request. Their documents are valid BSON, but the
  // fields of these documents have not been checked yet. The function must ignore fields that it
  // cannot interpret, because run() refuses them later.
  std::vector<Privilege> (*privileges)(const Request& request) = nullptr;

  GenericRules rules = {};
  OperationKind kind = OperationKind::kCommand;
  bool admin_only = false;
  bool before_login = false;  // clients that have not logged in may run it
  bool is_secret = false;     // its arguments must not appear in logs, in profiles or to other
                              // clients
  std::string_view about = {};
};

// Returns the privileges that the request needs.
std::vector<Privilege> privileges_of(const Command& command, const Request& request);

// Returns all commands. find_command() finds a command by any of its names, and returns null for an
// unknown name.
std::span<const Command> all_commands();
const Command* find_command(std::string_view name);

}  // namespace gridmount::wire
