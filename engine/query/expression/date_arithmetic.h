// Moving dates, counting between dates, and putting dates into bins, in units of the calendar or
// the clock. Units of a day or longer follow the local clock of the zone. Shorter units count
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

std::optional<TimeUnit> find_time_unit(std::string_view name);
// Returns the number of a weekday ("monday" or "mon", in upper or lower case): 1 is Monday, 7 is
// Sunday.
std::optional<int> find_weekday(std::string_view name);

// If the resulting month does not have the day, the month's last day is used. Fails with
// Location5976500 for an amount that exceeds the range of dates, and with Location5166406 if the
// result is not a date.
Result<bson::Date> add_to_date(bson::Date date, TimeUnit unit, int64_t amount,
                               const TimeZone& zone);

// Returns the number of the unit's boundaries between `start` and `end`. From 23:59 to 0:01 it is
// one day.
Result<int64_t> count_between(bson::Date start, bson::Date end, TimeUnit unit, const TimeZone& zone,
                              int start_of_week);

// Returns the beginning of the bin that holds the date. A bin has `bin_size` (above 0) units. One
// bin begins with the year 2000, or for weeks, with the first week that begins in that year.
Result<bson::Date> truncate_date(bson::Date date, TimeUnit unit, int64_t bin_size,
                                 const TimeZone& zone, int start_of_week);

}  // namespace gridmount::query::expressions
