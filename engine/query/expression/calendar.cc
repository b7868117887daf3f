#include "engine/query/expression/calendar.h"

#include <array>
#include <cstddef>
#include <limits>

namespace gridmount::query::expressions {
namespace {

// Years are counted from March, so that the leap day is a year's last day. They are grouped into
// eras of 400 years, which all have the same number of days.
constexpr int64_t kDaysPerEra = 146'097;
constexpr int64_t kYearsPerEra = 400;
// The number of days from 0000-03-01 to 1970-01-01.
constexpr int64_t kEpochDay = 719'468;

bool is_leap_year(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

}  // namespace

int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t floor_remainder(int64_t a, int64_t b) {
  const int64_t remainder = a % b;
  return remainder < 0 ? remainder + b : remainder;
}

int64_t days_from_date(int64_t year, int64_t month, int64_t day) {
  year += floor_divide(month - 1, 12);
  const int64_t months = (month - 1) - floor_divide(month - 1, 12) * 12;  // 0 to 11
  const int64_t shifted = (months + 10) % 12;                             // March is 0
  if (months < 2) --year;
  const int64_t era = floor_divide(year, kYearsPerEra);
  const int64_t year_of_era = year - era * kYearsPerEra;
  const int64_t day_of_year = (153 * shifted + 2) / 5;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - kEpochDay + (day - 1);
}

CalendarTime date_from_days(int64_t days) {
  days += kEpochDay;
  const int64_t era = floor_divide(days, kDaysPerEra);
  const int64_t day_of_era = days - era * kDaysPerEra;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted = (5 * day_of_year + 2) / 153;
  CalendarTime time;
  time.day = static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1);
  time.month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  time.year = year_of_era + era * kYearsPerEra + (time.month <= 2 ? 1 : 0);
  return time;
}

CalendarTime calendar_time(int64_t local_milliseconds) {
  const int64_t days = floor_divide(local_milliseconds, kMillisecondsPerDay);
  CalendarTime time = date_from_days(days);
  auto rest = static_cast<int>(floor_remainder(local_milliseconds, kMillisecondsPerDay));
  time.millisecond = rest % 1000;
  rest /= 1000;
  time.second = rest % 60;
  rest /= 60;
  time.minute = rest % 60;
  time.hour = rest / 60;
  return time;
}

int days_in_month(int64_t year, int month) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month == 2 && is_leap_year(year)) return 29;
  return kDays[static_cast<size_t>(month - 1)];
}

int day_of_year(const CalendarTime& time) {
  return static_cast<int>(days_from_date(time.year, time.month, time.day) -
                          days_from_date(time.year, 1, 1)) +
         1;
}

int week_of_year(const CalendarTime& time) {
  const int weekday = iso_weekday(days_from_date(time.year, time.month, time.day)) % 7;
  return (day_of_year(time) - 1 - weekday + 7) / 7;
}

int iso_weekday(int64_t days) {
  // 1970-01-01 was a Thursday.
  return static_cast<int>(days + 3 - floor_divide(days + 3, 7) * 7) + 1;
}

IsoWeek iso_week(int64_t days) {
  // A week belongs to the year of its Thursday.
  const int64_t thursday = days - iso_weekday(days) + 4;
  const int64_t year = date_from_days(thursday).year;
  return {year, static_cast<int>((thursday - days_from_date(year, 1, 1)) / 7) + 1};
}

int64_t days_from_iso_week(int64_t year, int64_t week, int64_t weekday) {
  const int64_t fourth = days_from_date(year, 1, 4);
  return fourth - iso_weekday(fourth) + 1 + (week - 1) * 7 + (weekday - 1);
}

int64_t add_saturated(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

}  // namespace gridmount::query::expressions
