// A command as the command table lists it: its names, which generic arguments it accepts, the
// privileges it needs, and the function that runs it.
//
// The table is immutable, so it may be used by any thread.
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

// The serverStatus opcounter that counts the command.
enum class OperationKind { kCommand, kQuery, kInsert, kUpdate, kRemove, kGetMore };

struct Command {
  // What `actions` apply to: the collection that the command's first field names, its database, or
  // the cluster.
  enum class Scope { kNothing, kCollection, kDatabase, kCluster };

  std::string_view name;
  std::vector<std::string_view> other_names = {};
  // Appends the result to `reply`. The service appends `ok` afterwards. An error becomes the reply
  // of a failed command.
  Status (*run)(Call& call, bson::Builder& reply) = nullptr;

  Scope scope = Scope::kNothing;
  std::vector<std::string_view> actions = {};
  // For commands whose privileges depend on their arguments. It sees only the body, which has not
  // been checked yet. It skips what it cannot interpret, because run() refuses that.
  std::vector<Privilege> (*privileges)(const Request& request) = nullptr;

  GenericRules rules = {};
  OperationKind kind = OperationKind::kCommand;
  bool admin_only = false;
  bool before_login = false;  // open to clients that have not logged in
  bool is_secret = false;     // logs, profiles and other clients do not see its arguments
  std::string_view about = {};
};

// Returns the privileges that the request needs.
std::vector<Privilege> privileges_of(const Command& command, const Request& request);

// Returns all commands. find_command() knows each by all of its names. Immutable.
std::span<const Command> all_commands();
const Command* find_command(std::string_view name);

}  // namespace gridmount::wire
