// A command as the table lists it: its names, what it takes of every command's arguments, the
// privileges it needs, and what runs it.
//
// Thread-safety: constants and values.
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

// What a client may do where: an action by the name MongoDB's documentation gives it ("Privilege
// Actions"), and a resource.
struct Privilege {
  // kAnyDatabase: on every database, be they there or not.
  enum class Resource { kCollection, kDatabase, kAnyDatabase, kCluster };
  Resource resource = Resource::kCollection;
  std::string_view action;
  std::string database = {};    // of kCollection and kDatabase
  std::string collection = {};  // of kCollection only
  friend bool operator==(const Privilege&, const Privilege&) = default;
};

// Which of opcounters a command counts for.
enum class OperationKind { kCommand, kQuery, kInsert, kUpdate, kRemove, kGetMore };

struct Command {
  // What it needs on the collection that its first field names, on its database, or on the cluster.
  enum class Scope { kNothing, kCollection, kDatabase, kCluster };

  std::string_view name;
  std::vector<std::string_view> other_names = {};
  // Adds `ok`. An error makes the reply of a failed command.
  Status (*run)(Call& call, bson::Builder& reply) = nullptr;

  Scope scope = Scope::kNothing;
  std::vector<std::string_view> actions = {};
  // For commands whose privileges depend on more than their name. Looks at the body alone, which
  // has not been checked; what it cannot make sense of, run() refuses.
  std::vector<Privilege> (*privileges)(const Request& request) = nullptr;

  GenericRules rules = {};
  OperationKind kind = OperationKind::kCommand;
  bool admin_only = false;
  bool before_login = false;  // for clients that have not logged in
  bool is_secret = false;     // its arguments are not shown to logs, profilers and other clients
  std::string_view about = {};
};

// The privileges that the request needs.
std::vector<Privilege> privileges_of(const Command& command, const Request& request);

// The commands, by each of their names. Immutable.
std::span<const Command> all_commands();
const Command* find_command(std::string_view name);

}  // namespace gridmount::wire
