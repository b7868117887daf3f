// The one table from the operating system's error numbers to Errors.
#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace gridmount::system {

// In the place of an errno: there is something, but no regular file.
inline constexpr int kNotRegular = -1;

// `error_number` is an errno, or kNotRegular; `what` says what was being done and to what ("opening
// /a/b"), and begins the message.
Error system_error(int error_number, std::string_view what);

}  // namespace gridmount::system
