// The built-in roles and what they permit.
// Source: MongoDB manual, "Built-In Roles", "Privilege Actions", "Resource Document".
//
// Thread-safe: functions without state, and Permissions, which is immutable after construction.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"

namespace gridmount::wire {

struct Role {
  std::string name;
  std::string database;
  friend auto operator<=>(const Role&, const Role&) = default;
};

// Returns true if the role is built in. Some built-in roles exist in each database, the others only
// in admin.
bool is_builtin_role(const Role& role);
// Returns the names of the built-in roles of a database.
std::vector<std::string_view> builtin_roles(std::string_view database);

// What an action may be performed on.
struct Resource {
  enum class Kind {
    kCluster,
    kDatabase,                 // the database and its collections, except for system collections
    kCollection,               // exactly this collection
    kAnyDatabase,              // like kDatabase for every database except local and config
    kCollectionOfAnyDatabase,  // the collection of that name in each database
    kAnything,                 // everything except the cluster
  };
  Kind kind;
  std::string database = {};
  std::string collection = {};
  friend auto operator<=>(const Resource&, const Resource&) = default;
};

// What the holder of some roles may do. Immutable.
class Permissions {
 public:
  struct Grant {
    Resource resource;
    std::set<std::string_view> actions;
  };

  Permissions() = default;  // permits nothing
  explicit Permissions(std::span<const Role> roles);

  // One entry for each resource.
  const std::vector<Grant>& grants() const { return grants_; }

  bool on_collection(std::string_view action, std::string_view database,
                     std::string_view collection) const;
  // True if the action is permitted on the database itself, or on all of its collections that are
  // not system collections.
  bool on_database(std::string_view action, std::string_view database) const;
  // True if the action is permitted on every database, whether it exists or not.
  bool on_any_database(std::string_view action) const;
  bool on_cluster(std::string_view action) const;
  // True if any action is permitted on the collection. listCollections with authorizedCollections
  // shows these collections.
  bool any_on_collection(std::string_view database, std::string_view collection) const;
  // True if any action is permitted on something in the database. listDatabases shows these
  // databases.
  bool any_on(std::string_view database) const;

 private:
  void add(Resource resource, std::span<const std::string_view> actions);

  std::vector<Grant> grants_;
};

// Appends the privileges to the open array, in the form that servers use: {resource: {db,
// collection} or {cluster: true}, actions: [...]}.
void append_privileges(bson::Builder& array, const Permissions& permissions);

}  // namespace gridmount::wire
