// Adds units of time to dates, counts units between dates, and truncates dates to bins of units.
// Units of a day or longer follow the calendar and the local clock of the time zone. Shorter units
// are elapsed time. Internal to engine/query.
//
// Source: MongoDB manual, "$dateAdd", "$dateDiff" and "$dateTrunc".
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query::expressions {

class TimeZone;

enum class TimeUnit { kYear, kQuarter, kMonth, kWeek, kDay, kHour, kMinute, kSecond, kMillisecond };

// Returns the unit with that name, or nullopt for any other name. The names are "year" to
// "millisecond", in lower case.
std::optional<TimeUnit> find_time_unit(std::string_view name);
// Returns the number of the weekday with that name, from 1 for Monday to 7 for Sunday, or nullopt
// for any other name. The names are "monday" or "mon" and so on. Upper and lower case are the same.
std::optional<int> find_weekday(std::string_view name);

// Adds `amount` units to the date. If the resulting month does not have the day of the date, the
// result has the last day of that month. Fails with Location5976500 if the amount is larger than
// the range of dates, and with Location5166406 if the result is out of range. For milliseconds,
// fails with DurationOverflow (159) instead of these two errors.
Result<bson::Date> add_to_date(bson::Date date, TimeUnit unit, int64_t amount,
                               const TimeZone& zone);

// Returns how many boundaries of the unit are between `start` and `end`. For example, one boundary
// of days is between 23:59 and 0:01. If `end` is earlier than `start`, the number is negative.
// `start_of_week` is the number of a weekday, as find_weekday() returns it. It matters only for
// weeks. Fails with Location5166308 if the unit is milliseconds and the number does not fit an
// int64.
Result<int64_t> count_between(bson::Date start, bson::Date end, TimeUnit unit, const TimeZone& zone,
                              int start_of_week);

// Returns the beginning of the bin that contains the date. Each bin has `bin_size` units.
// `bin_size` must be greater than 0. The bins follow one another, and one of them begins with the
// year 2000 in the time zone; for weeks, one begins with the first week that begins in 2000.
// `start_of_week` is as in count_between(). For units of a day or longer, fails with
// Location5439006 if `bin_size` is greater than 100,000,000,000, and as add_to_date() does. For
// shorter units, fails with Location5439000 to 5439002 if the size of the bin in milliseconds, the
// distance of the date from 2000, or the result is out of range.
Result<bson::Date> truncate_date(bson::Date date, TimeUnit unit, int64_t bin_size,
                                 const TimeZone& zone, int start_of_week);

}  // namespace gridmount::query::expressions
