// Prepares passwords with SASLprep (libidn): a password that is typed on different keyboards then
// has the same bytes.
// Source: RFC 4013, RFC 7677.
//
// Thread-safe: a function without state.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace gridmount::wire {

// Returns the prepared password. Fails with BadValue if `password` is not UTF-8, or has characters
// that SASLprep prohibits or that Unicode 3.2 does not have.
Result<std::string> prepare_password(std::string_view password);

}  // namespace gridmount::wire
