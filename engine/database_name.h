// What a database may be called. check_namespace() (store.h) asks the same of a collection's
// database.
//
// Thread-safety: a pure function.
#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace gridmount::engine {

// InvalidNamespace naming what is wrong: an empty name, more than 63 bytes, NUL, or one of
// /\. "$*<>:|?.
Status check_database_name(std::string_view name);

}  // namespace gridmount::engine
