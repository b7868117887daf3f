// SASLprep of passwords, with libidn: the same password typed on two keyboards gives the same
// bytes.
// Source: RFC 4013, RFC 7677.
//
// Thread-safe: a function without state.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace gridmount::wire {

// Fails with BadValue if the text is not UTF-8 or contains characters that SASLprep prohibits.
Result<std::string> prepare_password(std::string_view password);

}  // namespace gridmount::wire
