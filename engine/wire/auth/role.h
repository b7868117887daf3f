// Roles and what they permit: the built-in ones. Source: MongoDB manual, "Built-In Roles",
// "Privilege Actions", "Resource Document".
//
// Thread-safety: values and constants.
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

// Whether there is a built-in role of that name in that database: some are in each, the others in
// admin alone.
bool is_builtin_role(const Role& role);
// The names of those of a database.
std::vector<std::string_view> builtin_roles(std::string_view database);

// What an action is permitted on.
struct Resource {
  enum class Kind {
    kCluster,
    kDatabase,                 // the database, and its collections but system's
    kCollection,               // exactly this one
    kAnyDatabase,              // as kDatabase of every database but local and config
    kCollectionOfAnyDatabase,  // of that name in each
    kAnything,                 // but the cluster
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

  Permissions() = default;  // nothing
  explicit Permissions(std::span<const Role> roles);

  // By resources, each once.
  const std::vector<Grant>& grants() const { return grants_; }

  bool on_collection(std::string_view action, std::string_view database,
                     std::string_view collection) const;
  // On the database itself, or on all of its collections that are not system's.
  bool on_database(std::string_view action, std::string_view database) const;
  // On every database, be it there or not.
  bool on_any_database(std::string_view action) const;
  bool on_cluster(std::string_view action) const;
  // Whether anything at all may be done with it: what listCollections' authorizedCollections shows.
  bool any_on_collection(std::string_view database, std::string_view collection) const;
  // Whether anything at all may be done with something in the database: whether listDatabases shows
  // it.
  bool any_on(std::string_view database) const;

 private:
  void add(Resource resource, std::span<const std::string_view> actions);

  std::vector<Grant> grants_;
};

// As servers show privileges: {resource: {db, collection} or {cluster: true}, actions: [...]}.
// Pushes them into the array that is open.
void append_privileges(bson::Builder& array, const Permissions& permissions);

}  // namespace gridmount::wire
