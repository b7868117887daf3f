// The argument DB.COLLECTION of gridstore's commands on documents.
//
// Thread-safe: a function without state.
#pragma once

#include <string>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::tools {

// Splits the argument at its first dot. Fails with InvalidNamespace if the argument has no dot, or
// if a name is invalid.
Result<engine::Namespace> namespace_argument(const std::string& argument);

}  // namespace gridmount::tools
