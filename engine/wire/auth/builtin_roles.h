// The table of the built-in roles: the actions that each role permits on each resource. These are
// the privileges that MongoDB 6.0.5 reports (rolesInfo with showPrivileges), except those on the
// buckets of time series, which this store does not have.
//
// Immutable, so thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "engine/wire/auth/role.h"

namespace gridmount::wire {

struct BuiltinGrant {
  std::string_view role;
  Resource::Kind kind;
  // For kDatabase and kCollection. If empty: the database of the role.
  std::string_view database;
  std::string_view collection;                // for kCollection and kCollectionOfAnyDatabase
  std::span<const std::string_view> actions;  // in alphabetical order
};

std::span<const BuiltinGrant> builtin_grants();

// Returns true if every database has this built-in role. The others exist only in admin.
bool is_of_each_database(std::string_view role);

}  // namespace gridmount::wire
