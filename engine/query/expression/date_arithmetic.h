// Adds to dates, counts between dates, and truncates dates to bins, in units of the calendar or the
// clock. Units of a day or longer are counted on the local clock of the zone. Shorter units are
// elapsed time. Internal to engine/query. Thread-safety: pure functions.
//
// Source: MongoDB manual, "$dateAdd", "$dateDiff" and "$dateTrunc".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query::expressions {

class TimeZone;

enum class TimeUnit { kYear, kQuarter, kMonth, kWeek, kDay, kHour, kMinute, kSecond, kMillisecond };

// Returns nullopt for an unknown name. Names are "year" to "millisecond", in lower case.
std::optional<TimeUnit> find_time_unit(std::string_view name);
// Returns the number of a weekday, from 1 for Monday to 7 for Sunday, or nullopt for any other
// name. Names are "monday" or "mon", in upper or lower case.
std::optional<int> find_weekday(std::string_view name);

// Adds `amount` units to the date. If the resulting month does not have the day, uses its last day.
// Fails with Location5976500 for an amount that exceeds the range of dates, and with
// Location5166406 if the result is beyond this range. For milliseconds, fails with DurationOverflow
// (159) instead of both.
Result<bson::Date> add_to_date(bson::Date date, TimeUnit unit, int64_t amount,
                               const TimeZone& zone);

// Returns how many boundaries of the unit are between `start` and `end`. From 23:59 to 0:01 there
// is one boundary of days. The number is negative if `end` is earlier. `start_of_week` is a
// weekday's number, as find_weekday() returns it, and is used only for weeks. Fails with
// Location5166308 if a number of milliseconds is out of range.
Result<int64_t> count_between(bson::Date start, bson::Date end, TimeUnit unit, const TimeZone& zone,
                              int start_of_week);

// Returns the beginning of the bin that contains the date. Each bin has `bin_size` units, which
// must be greater than 0. One of the bins begins with the year 2000. For weeks, one begins with the
// first week that begins in 2000. Fails with Location5439006 for a bin of more than 100,000,000,000
// days or longer units, with Location5439000 to 5439002 if a bin of shorter units is out of range,
// and as add_to_date() and count_between() do.
Result<bson::Date> truncate_date(bson::Date date, TimeUnit unit, int64_t bin_size,
                                 const TimeZone& zone, int start_of_week);

}  // namespace gridmount::query::expressions
