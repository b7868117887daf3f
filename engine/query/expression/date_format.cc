#include "engine/query/expression/date_format.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "engine/bson/text.h"
#include "engine/query/expression/calendar.h"
#include "engine/query/expression/month_names.h"
#include "engine/query/expression/time_zone.h"

namespace gridmount::query::expressions {
namespace {

constexpr ErrorCode kUnmatchedPercent{18535};
constexpr ErrorCode kInvalidSpecifier{18536};
constexpr ErrorCode kYearOutOfRange{18537};

Status check_format(std::string_view format, std::string_view specifiers) {
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (++i == format.size()) {
      return fail(kUnmatchedPercent, "Unmatched '%' at end of format string");
    }
    if (specifiers.find(format[i]) == std::string_view::npos) {
      return fail(kInvalidSpecifier, "Invalid format character '%" +
                                         std::string(bson::character_at(format, i)) +
                                         "' in format string");
    }
  }
  return {};
}

std::string padded(int64_t value, int width) {
  char text[32];
  snprintf(text, sizeof text, "%0*lld", width, static_cast<long long>(value));
  return text;
}

std::string offset_text(int64_t seconds) {
  const int64_t minutes = std::llabs(seconds) / 60;
  return (seconds < 0 ? "-" : "+") + padded(minutes / 60, 2) + padded(minutes % 60, 2);
}

// A date in the form that format specifiers need.
struct Moment {
  CalendarTime time;
  int64_t days;
  int64_t offset_seconds;
};

Result<std::string> format_year(int64_t year) {
  if (year >= 0 && year <= 9999) return padded(year, 4);
  return fail(kYearOutOfRange, "$dateToString is only defined on year 0-9999, tried to use year " +
                                   std::to_string(year));
}

Result<std::string> format_part(char specifier, const Moment& moment) {
  const CalendarTime& time = moment.time;
  const auto month = static_cast<size_t>(time.month - 1);
  switch (specifier) {
    case 'b':
      return std::string(kMonthNames[month].substr(0, 3));
    case 'B':
      return std::string(kMonthNames[month]);
    case 'd':
      return padded(time.day, 2);
    case 'G':
      return format_year(iso_week(moment.days).year);
    case 'H':
      return padded(time.hour, 2);
    case 'j':
      return padded(day_of_year(time), 3);
    case 'L':
      return padded(time.millisecond, 3);
    case 'm':
      return padded(time.month, 2);
    case 'M':
      return padded(time.minute, 2);
    case 'S':
      return padded(time.second, 2);
    case 'w':
      return std::to_string(iso_weekday(moment.days) % 7 + 1);
    case 'u':
      return std::to_string(iso_weekday(moment.days));
    case 'U':
      return padded(week_of_year(time), 2);
    case 'V':
      return padded(iso_week(moment.days).week, 2);
    case 'Y':
      return format_year(time.year);
    case 'z':
      return offset_text(moment.offset_seconds);
    case 'Z':
      return std::to_string(moment.offset_seconds / 60);
    default:
      return std::string("%");
  }
}

}  // namespace

Status check_format_for_writing(std::string_view format) {
  return check_format(format, "bBdGHjLmMSwuUVYzZ%");
}

Status check_format_for_reading(std::string_view format) {
  return check_format(format, "bBdGHjLmMSuVYzZ%");
}

Result<std::string> format_date(std::string_view format, bson::Date date, const TimeZone& zone) {
  const int64_t local = zone.to_local(date);
  const Moment moment{calendar_time(local), floor_divide(local, kMillisecondsPerDay),
                      zone.offset_seconds(date)};
  std::string text;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    GM_ASSIGN(const std::string part, format_part(format[++i], moment));
    text += part;
  }
  return text;
}

std::string date_to_iso_text(bson::Date date) {
  const CalendarTime time = calendar_time(date.milliseconds);
  char text[64];
  snprintf(text, sizeof text, "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ",
           static_cast<long long>(time.year), time.month, time.day, time.hour, time.minute,
           time.second, time.millisecond);
  return text;
}

}  // namespace gridmount::query::expressions
