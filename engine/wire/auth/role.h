// The built-in roles and what they permit.
// Source: MongoDB manual, "Built-In Roles", "Privilege Actions", "Resource Document".
//
// Thread-safe: the functions have no state, and a Permissions is immutable.
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

// Returns true if the role is built in. Some built-in roles exist in every database, the others
// only in admin.
bool is_builtin_role(const Role& role);
// Returns the names of the built-in roles of a database.
std::vector<std::string_view> builtin_roles(std::string_view database);

// The object on which an action is performed.
struct Resource {
  // System collections are those whose names begin with "system.", and in the database local also
  // those whose names begin with "replset.".
  enum class Kind {
    kCluster,
    kDatabase,                 // the database and its collections, except for system collections
    kCollection,               // only this collection
    kAnyDatabase,              // like kDatabase for every database except local and config
    kCollectionOfAnyDatabase,  // the collection with this name in each database
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

  Permissions() = default;                            // permits nothing
  explicit Permissions(std::span<const Role> roles);  // ignores roles that are not built in

  // Returns one Grant for each resource.
  const std::vector<Grant>& grants() const { return grants_; }

  // Returns true if the action is permitted on the collection.
  bool on_collection(std::string_view action, std::string_view database,
                     std::string_view collection) const;
  // Returns true if the action is permitted on the database itself and on all of its collections
  // except system collections.
  bool on_database(std::string_view action, std::string_view database) const;
  // Returns true if the action is permitted on every database except local and config, whether the
  // database exists or not.
  bool on_any_database(std::string_view action) const;
  bool on_cluster(std::string_view action) const;
  // Returns true if at least one action is permitted on the collection. listCollections with
  // authorizedCollections shows these collections.
  bool any_on_collection(std::string_view database, std::string_view collection) const;
  // Returns true if at least one action is permitted on the database or on something in it.
  // listDatabases shows these databases.
  bool any_on(std::string_view database) const;

 private:
  void add(Resource resource, std::span<const std::string_view> actions);

  std::vector<Grant> grants_;
};

// Appends the privileges to the array that `array` has open, in the form that servers use:
// {resource: ..., actions: [...]}. The resource is {db, collection}, {cluster: true} or
// {anyResource: true}.
void append_privileges(bson::Builder& array, const Permissions& permissions);

}  // namespace gridmount::wire
