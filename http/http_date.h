// Dates in fields of HTTP: "Sun, 06 Nov 1994 08:49:37 GMT". Source: RFC 9110, 5.6.7.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gridmount::http {

// Returns the date of a number of seconds since 1970. A date outside of the years 1 to 9999, which
// cannot be written, becomes the nearest that can.
std::string http_date(int64_t seconds);
// Returns the seconds since 1970 of a date in the preferred form. Returns nothing for the two
// obsolete forms and for anything else: the field is then ignored, as RFC 9110 demands of invalid
// dates.
std::optional<int64_t> parse_http_date(std::string_view text);

}  // namespace gridmount::http
