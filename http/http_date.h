// Dates in fields of HTTP: "Sun, 06 Nov 1994 08:49:37 GMT". Source: RFC 9110, 5.6.7.
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gridmount::http {

// Returns the text of a time. `seconds` counts from 1970. The text can have only the years 1 to
// 9999. A time before or after these years becomes the nearest time within these years.
std::string http_date(int64_t seconds);
// Returns the time in seconds since 1970. Accepts the preferred form, and the two obsolete forms,
// which servers must accept: "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37 1994". A
// year of two digits means a year that is at most 50 years in the future. Returns nothing for any
// other text. The caller must then ignore the field, as RFC 9110 demands for invalid dates.
std::optional<int64_t> parse_http_date(std::string_view text);
// Returns the text of a time in the form "2026-01-31T23:59:59.123Z", which is valid by ISO 8601 and
// by RFC 3339. `milliseconds` counts from 1970. As in http_date(), a time before the year 1 or
// after the year 9999 becomes the nearest time within these years.
std::string iso_time(int64_t milliseconds);

}  // namespace gridmount::http
