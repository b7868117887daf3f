// A user as a dump has it, a document of admin.system.users, before it becomes a store's.
//
// Thread-safety: a function without state.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/wire/auth/user.h"

namespace gridmount::wire {

// BadValue for a document that is no user, or one of another database than `database` (if that is
// not empty); CommandNotSupported and RoleNotFound for what users here do not have.
Result<User> restored_user(bson::View document, std::string_view database);

}  // namespace gridmount::wire
