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
// Returns the seconds since 1970 of a date in the preferred form or in one of the two obsolete
// forms, which servers must accept: "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37
// 1994". Returns nothing for anything else. Callers then ignore the field, as RFC 9110 demands of
// invalid dates.
std::optional<int64_t> parse_http_date(std::string_view text);
// Returns the time of a number of milliseconds since 1970 in the form "2026-01-31T23:59:59.123Z",
// which is one of ISO 8601 and of RFC 3339. A time outside of those years becomes the nearest.
std::string iso_time(int64_t milliseconds);

}  // namespace gridmount::http
