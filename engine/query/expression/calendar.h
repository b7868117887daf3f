// The proleptic Gregorian calendar, for all milliseconds an int64 can count. Pure functions; local
// times are milliseconds since 1970-01-01T00:00 on the clock of the place. Internal to this folder.
#pragma once

#include <cstdint>

namespace gridmount::query::expressions {

inline constexpr int64_t kMillisecondsPerDay = 86'400'000;

struct CalendarTime {
  int64_t year = 1970;
  int month = 1;  // 1 to 12
  int day = 1;    // 1 to 31
  int hour = 0;
  int minute = 0;
  int second = 0;
  int millisecond = 0;
};

// The ISO 8601 week: weeks begin on Monday, the first has the year's first Thursday.
struct IsoWeek {
  int64_t year;
  int week;
};

int64_t floor_divide(int64_t a, int64_t b);

// Days since 1970-01-01. `month` and `day` may be out of range and then count on.
int64_t days_from_date(int64_t year, int64_t month, int64_t day);
// The date only.
CalendarTime date_from_days(int64_t days);
CalendarTime calendar_time(int64_t local_milliseconds);

int days_in_month(int64_t year, int month);
int day_of_year(const CalendarTime& time);  // 1 to 366
// Weeks begin on Sunday; before the first Sunday it is week 0.
int week_of_year(const CalendarTime& time);
int iso_weekday(int64_t days);  // 1 is Monday, 7 is Sunday
IsoWeek iso_week(int64_t days);
int64_t days_from_iso_week(int64_t year, int64_t week, int64_t weekday);

// a + b, the nearest int64 if that is none.
int64_t add_saturated(int64_t a, int64_t b);

}  // namespace gridmount::query::expressions
