// The two forms in which commands name a role.
//
// Thread-safe: a function without state.
#pragma once

#include <string>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/wire/auth/role.h"

namespace gridmount::wire {

// Accepts the string "name", which means a role of `database`, and the document {role, db}. Fails
// with BadValue (2) for a value that is neither a string nor a document, and with the errors of
// Arguments for other, missing or wrong fields. Does not check that the role exists.
Result<Role> role_name_of(bson::ValueView value, const std::string& database);

}  // namespace gridmount::wire
