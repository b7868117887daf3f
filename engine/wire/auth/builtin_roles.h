// The built-in roles as a table: what each permits where, as MongoDB 6.0.5 itself tells it
// (rolesInfo with showPrivileges), but for time series' buckets, which are not here.
//
// Thread-safety: constants.
#pragma once

#include <span>
#include <string_view>

#include "engine/wire/auth/role.h"

namespace gridmount::wire {

struct BuiltinGrant {
  std::string_view role;
  Resource::Kind kind;
  std::string_view database;  // empty where it is the role's own
  std::string_view collection;
  std::span<const std::string_view> actions;  // in the alphabet's order
};

std::span<const BuiltinGrant> builtin_grants();

// Whether each database has the role; the others are admin's.
bool is_of_each_database(std::string_view role);

}  // namespace gridmount::wire
