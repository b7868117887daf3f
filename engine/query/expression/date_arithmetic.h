// Dates moved, counted between and put into bins, by units of the calendar and of the clock.
// Internal to this folder. Units of a day and longer keep to the local clock of the zone, shorter
// ones to the time that passes. Thread-safety: pure functions.
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
// "monday" or "mon", in any case: 1 is Monday, 7 is Sunday.
std::optional<int> find_weekday(std::string_view name);

// A day that the month reached does not have is its last. Location5976500 for an amount beyond all
// dates, Location5166406 for a result that is none.
Result<bson::Date> add_to_date(bson::Date date, TimeUnit unit, int64_t amount,
                               const TimeZone& zone);

// How many boundaries of the unit are passed from `start` to `end`: from 23:59 to 0:01 it is a day.
Result<int64_t> count_between(bson::Date start, bson::Date end, TimeUnit unit, const TimeZone& zone,
                              int start_of_week);

// The beginning of the bin of `bin_size` (above 0) units that the date is in. One begins with the
// year 2000, of weeks with the first week that begins in it.
Result<bson::Date> truncate_date(bson::Date date, TimeUnit unit, int64_t bin_size,
                                 const TimeZone& zone, int start_of_week);

}  // namespace gridmount::query::expressions
