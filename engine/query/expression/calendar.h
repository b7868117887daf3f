// The proleptic Gregorian calendar, for all times that an int64 of milliseconds can express. A
// local time is the number of milliseconds since 1970-01-01T00:00 on a local clock. Internal to
// engine/query. Thread-safety: pure functions.
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

// A week as ISO 8601 defines it. Weeks begin on Monday, and week 1 has the year's first Thursday.
struct IsoWeek {
  int64_t year;
  int week;
};

// Returns a / b, rounded down. `b` must not be 0.
int64_t floor_divide(int64_t a, int64_t b);
// Returns a - floor_divide(a, b) * b, for a positive `b`.
int64_t floor_remainder(int64_t a, int64_t b);

// Returns the number of days from 1970-01-01 to the date. `month` and `day` may be out of range:
// month 13 is January of the next year, and day 0 is the last day of the month before.
int64_t days_from_date(int64_t year, int64_t month, int64_t day);
// Returns the date that is this many days after 1970-01-01, with the time 0:00.
CalendarTime date_from_days(int64_t days);
CalendarTime calendar_time(int64_t local_milliseconds);

int days_in_month(int64_t year, int month);
int day_of_year(const CalendarTime& time);  // 1 to 366
// Returns the number of the week in its year. Weeks begin on Sunday, and the days before the first
// Sunday are in week 0.
int week_of_year(const CalendarTime& time);
int iso_weekday(int64_t days);  // 1 is Monday, 7 is Sunday
IsoWeek iso_week(int64_t days);
int64_t days_from_iso_week(int64_t year, int64_t week, int64_t weekday);

// Returns a + b, clamped to the range of int64.
int64_t add_saturated(int64_t a, int64_t b);

}  // namespace gridmount::query::expressions
