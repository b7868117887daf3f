// Dates as text, by a format, and back. Internal to this folder.
// Source: MongoDB manual, "$dateToString" and "$dateFromString", Format Specifiers.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query::expressions {

class TimeZone;

// Location18535 for a '%' at the end, Location18536 for a specifier that is none.
Status check_format_for_writing(std::string_view format);
Status check_format_for_reading(std::string_view format);

// Location18537 for a year beyond 0 to 9999.
Result<std::string> format_date(std::string_view format, bson::Date date, const TimeZone& zone);

// "2020-02-29T12:00:00.000Z"; years beyond 9999 have more digits.
std::string date_to_iso_text(bson::Date date);

// ConversionFailure (241) if the text is no date, or none of that format. A zone in the text and
// another than UTC as `zone` contradict each other.
Result<bson::Date> parse_date(std::string_view text, const TimeZone& zone);
Result<bson::Date> parse_date(std::string_view text, std::string_view format, const TimeZone& zone);

}  // namespace gridmount::query::expressions
