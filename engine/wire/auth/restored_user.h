// Checks a user before it is restored from a dump. The user is a document of admin.system.users.
//
// Thread-safe: a function without state.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/wire/auth/user.h"

namespace gridmount::wire {

// Returns the user. Fails with BadValue if the document is not a user, or if `database` is not
// empty and the user belongs to another database. Fails with CommandNotSupported if the user has
// authentication restrictions, and with RoleNotFound if the user has a role that is not built in.
Result<User> restored_user(bson::View document, std::string_view database);

}  // namespace gridmount::wire
