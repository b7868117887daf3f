// The rules for database names. check_namespace() (store.h) applies the same rules to the database
// of a collection.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace gridmount::engine {

// Fails with InvalidNamespace if the name is empty, has more than 63 bytes, or has a NUL, a space
// or one of these characters: / \ . " $ * < > : | ?
Status check_database_name(std::string_view name);

// Returns true for the databases that a deployment keeps for itself: admin, config and local.
bool is_internal_database(std::string_view name);

}  // namespace gridmount::engine
