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

namespace gridmount::wire {

struct Role {
  std::string name;
  std::string database;
  friend auto operator<=>(const Role&, const Role&) = default;
};

// Whether there is a built-in role of that name in that database: read, readWrite, dbAdmin, dbOwner
// and userAdmin are in each; the others in admin alone.
bool is_builtin_role(const Role& role);
// The names of those of a database.
std::vector<std::string_view> builtin_roles(std::string_view database);

// What the holder of some roles may do. Immutable.
class Permissions {
 public:
  Permissions() = default;  // nothing
  explicit Permissions(std::span<const Role> roles);

  bool on_collection(std::string_view action, std::string_view database,
                     std::string_view collection) const;
  // On the database itself, or on all of its collections that are not system's.
  bool on_database(std::string_view action, std::string_view database) const;
  bool on_cluster(std::string_view action) const;
  // Whether anything at all may be done with it: what listCollections' authorizedCollections shows.
  bool any_on_collection(std::string_view database, std::string_view collection) const;
  // Whether something in the database can be read or written at all: whether listDatabases shows
  // it.
  bool any_on(std::string_view database) const;

 private:
  // Where a group of actions is permitted.
  struct Grant {
    enum class Kind {
      kDatabase,     // the database, and its collections but system's
      kCollection,   // exactly this one
      kAnyDatabase,  // as kDatabase of every database but local and config
      kAnySystem,    // every system collection, and local's and config's
    };
    Kind kind;
    std::string database;
    std::string collection;
    std::span<const std::string_view> actions;
  };

  static bool covers(const Grant& grant, std::string_view database, std::string_view collection);
  void grant(const Role& role);
  void grant_to(Grant::Kind kind, std::string database, std::span<const std::string_view> actions,
                std::string collection = {});
  void grant_cluster(std::span<const std::string_view> actions);

  std::vector<Grant> grants_;
  std::set<std::string_view> cluster_;
};

}  // namespace gridmount::wire
