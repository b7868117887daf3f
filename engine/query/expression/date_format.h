// Converts dates to text and back, with or without a format. Internal to engine/query.
// Thread-safety: pure functions.
//
// Source: MongoDB manual, "$dateToString" and "$dateFromString", Format Specifiers.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query::expressions {

class TimeZone;

// Check a format. Both functions fail with Location18535 for a '%' at the end, and with
// Location18536 for an unknown specifier.
Status check_format_for_writing(std::string_view format);
Status check_format_for_reading(std::string_view format);

// Fails with Location18537 for %Y or %G and a year outside 0 to 9999. check_format_for_writing()
// must have accepted the format.
Result<std::string> format_date(std::string_view format, bson::Date date, const TimeZone& zone);

// Returns a text such as "2020-02-29T12:00:00.000Z". A year after 9999 has more digits, and a year
// before 0 has a minus sign.
std::string date_to_iso_text(bson::Date date);

// Parse a date, which is in `zone` if the text has no offset. Both functions fail with
// ConversionFailure (241) if the text is not a date or does not have the format, and if the text
// has an offset although `zone` is not UTC. check_format_for_reading() must have accepted the
// format.
Result<bson::Date> parse_date(std::string_view text, const TimeZone& zone);
Result<bson::Date> parse_date(std::string_view text, std::string_view format, const TimeZone& zone);

}  // namespace gridmount::query::expressions
