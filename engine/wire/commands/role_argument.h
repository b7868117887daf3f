// How commands name a role.
//
// Thread-safety: a function without state.
#pragma once

#include <string>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/wire/auth/role.h"

namespace gridmount::wire {

// "name", of the database given, or {role, db}; BadValue (2) for anything else. Whether there is
// such a role is not looked at.
Result<Role> role_name_of(bson::ValueView value, const std::string& database);

}  // namespace gridmount::wire
