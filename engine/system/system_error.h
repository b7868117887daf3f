// The only table from the operating system's error numbers to Errors.
//
// Thread-safety: thread-safe.
#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace gridmount::system {

// Used in place of an errno: the path exists, but is not a regular file.
inline constexpr int kNotRegular = -1;

// `error_number` is an errno or kNotRegular. `what` describes the operation and its object
// ("opening /a/b"), and begins the message.
Error system_error(int error_number, std::string_view what);

}  // namespace gridmount::system
