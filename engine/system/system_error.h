// Translates the operating system's error numbers into Errors. No other table does this.
//
// Thread-safety: thread-safe.
#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace gridmount::system {

// Used in place of an errno: the path exists, but is not a regular file.
inline constexpr int kNotRegular = -1;

// `error_number` is an errno or kNotRegular. An errno that has no code of its own, such as ENOENT,
// becomes OperationFailed. The message begins with `what`, which names the operation and its object
// ("opening /a/b").
Error system_error(int error_number, std::string_view what);

}  // namespace gridmount::system
