#include "engine/query/expression/date_arithmetic.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "engine/query/expression/calendar.h"
#include "engine/query/expression/time_zone.h"

namespace gridmount::query::expressions {
namespace {

constexpr ErrorCode kDurationOverflow{159};
constexpr ErrorCode kAddOverflow{5166406};
constexpr ErrorCode kDifferenceOverflow{5166308};
constexpr ErrorCode kInvalidAmount{5976500};
constexpr ErrorCode kBinSizeOverflow{5439002};
constexpr ErrorCode kTruncationOverflow{5439000};
constexpr ErrorCode kUnsupportedBinSize{5439006};

// The days from 1970-01-01 to 2000-01-01, which was a Saturday.
constexpr int64_t kReferenceDay = 10'957;
constexpr int kReferenceWeekday = 6;

constexpr int64_t kBinSizeMax = 100'000'000'000;

// An upper bound for the days between the first and the last date.
constexpr int64_t kDaysMax =
    static_cast<int64_t>(std::numeric_limits<uint64_t>::max() / kMillisecondsPerDay) + 1;

constexpr std::array<std::string_view, 9> kUnitNames{
    "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"};

constexpr std::array<std::string_view, 7> kWeekdayNames{
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

// Returns the length of a unit of the clock.
int64_t milliseconds_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kHour:
      return 3'600'000;
    case TimeUnit::kMinute:
      return 60'000;
    case TimeUnit::kSecond:
      return 1000;
    default:
      return 1;
  }
}

// Returns the number of months in a unit of one or more months.
int64_t months_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kYear:
      return 12;
    case TimeUnit::kQuarter:
      return 3;
    default:
      return 1;
  }
}

bool is_of_months(TimeUnit unit) {
  return unit == TimeUnit::kYear || unit == TimeUnit::kQuarter || unit == TimeUnit::kMonth;
}
bool is_of_days(TimeUnit unit) {
  return unit == TimeUnit::kWeek || unit == TimeUnit::kDay;
}

int64_t amount_limit(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kYear:
      return kDaysMax / 365 + 1;
    case TimeUnit::kQuarter:
      return (kDaysMax / 365 + 1) * 4;
    case TimeUnit::kMonth:
      return (kDaysMax / 365 + 1) * 12;
    case TimeUnit::kWeek:
      return kDaysMax / 7;
    case TimeUnit::kDay:
      return kDaysMax;
    default:
      return kDaysMax * (kMillisecondsPerDay / milliseconds_of(unit));
  }
}

tl::unexpected<Error> refuse_sum() {
  return fail(kAddOverflow, "dateAdd overflowed");
}

Result<bson::Date> add_milliseconds(bson::Date date, int64_t milliseconds) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(date.milliseconds, milliseconds, &sum)) return bson::Date{sum};
  return fail(kDurationOverflow, "Overflow while adding durations");
}

int64_t days_of(int64_t local) {
  return floor_divide(local, kMillisecondsPerDay);
}

// Returns the day that is `months` months later.
int64_t add_months(int64_t days, int64_t months) {
  const CalendarTime date = date_from_days(days);
  const int64_t month = date.year * 12 + (date.month - 1) + months;
  const int64_t year = floor_divide(month, 12);
  const auto month_of_year = static_cast<int>(month - year * 12) + 1;
  return days_from_date(year, month_of_year,
                        std::min(date.day, days_in_month(year, month_of_year)));
}

// Returns the months since the year 0.
int64_t months_until(int64_t local) {
  const CalendarTime time = calendar_time(local);
  return time.year * 12 + (time.month - 1);
}

// Returns the position of the day in its week. The first day of the week has the position 0.
int64_t day_within_week(int64_t local, int start_of_week) {
  return (iso_weekday(days_of(local)) - start_of_week + 7) % 7;
}

}  // namespace

std::optional<TimeUnit> find_time_unit(std::string_view name) {
  const auto* const found = std::find(kUnitNames.begin(), kUnitNames.end(), name);
  if (found == kUnitNames.end()) return std::nullopt;
  return static_cast<TimeUnit>(found - kUnitNames.begin());
}

std::optional<int> find_weekday(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (size_t i = 0; i < kWeekdayNames.size(); ++i) {
    if (lower == kWeekdayNames[i] || lower == kWeekdayNames[i].substr(0, 3)) {
      return static_cast<int>(i) + 1;
    }
  }
  return std::nullopt;
}

Result<bson::Date> add_to_date(bson::Date date, TimeUnit unit, int64_t amount,
                               const TimeZone& zone) {
  if (unit == TimeUnit::kMillisecond) return add_milliseconds(date, amount);
  const int64_t limit = amount_limit(unit);
  if (amount <= -limit || amount >= limit) {
    return fail(kInvalidAmount,
                "invalid dateAdd 'amount' parameter value: " + std::to_string(amount) + " " +
                    std::string(kUnitNames[static_cast<size_t>(unit)]));
  }
  int64_t sum = 0;
  if (!is_of_months(unit) && !is_of_days(unit)) {
    if (__builtin_mul_overflow(amount, milliseconds_of(unit), &sum) ||
        __builtin_add_overflow(date.milliseconds, sum, &sum)) {
      return refuse_sum();
    }
    return bson::Date{sum};
  }
  const int64_t local = zone.to_local(date);
  const int64_t days = days_of(local);
  const int64_t time_of_day = floor_remainder(local, kMillisecondsPerDay);
  const int64_t moved = is_of_months(unit) ? add_months(days, amount * months_of(unit))
                                           : days + amount * (unit == TimeUnit::kWeek ? 7 : 1);
  if (__builtin_mul_overflow(moved, kMillisecondsPerDay, &sum) ||
      __builtin_add_overflow(sum, time_of_day, &sum)) {
    return refuse_sum();
  }
  return zone.from_local(sum);
}

Result<int64_t> count_between(bson::Date start, bson::Date end, TimeUnit unit, const TimeZone& zone,
                              int start_of_week) {
  if (unit == TimeUnit::kMillisecond) {
    int64_t difference = 0;
    if (!__builtin_sub_overflow(end.milliseconds, start.milliseconds, &difference)) {
      return difference;
    }
    return fail(kDifferenceOverflow, "dateDiff overflowed");
  }
  const int64_t local_start = zone.to_local(start);
  const int64_t local_end = zone.to_local(end);
  if (is_of_months(unit)) {
    const int64_t months = months_of(unit);
    return floor_divide(months_until(local_end), months) -
           floor_divide(months_until(local_start), months);
  }
  if (is_of_days(unit)) {
    const int64_t days = days_of(local_end) - days_of(local_start);
    if (unit == TimeUnit::kDay) return days;
    return (days + day_within_week(local_start, start_of_week) -
            day_within_week(local_end, start_of_week)) /
           7;
  }
  const int64_t length = milliseconds_of(unit);
  // The part of the difference between the local times that comes only from changes of the clock,
  // in units.
  const int64_t clock_change =
      (zone.offset_seconds(start) - zone.offset_seconds(end)) * 1000 / length;
  return floor_divide(local_end, length) - floor_divide(local_start, length) + clock_change;
}

Result<bson::Date> truncate_date(bson::Date date, TimeUnit unit, int64_t bin_size,
                                 const TimeZone& zone, int start_of_week) {
  int64_t reference_day = kReferenceDay;
  if (unit == TimeUnit::kWeek) reference_day += (start_of_week - kReferenceWeekday + 7) % 7;
  const bson::Date utc_reference{kReferenceDay * kMillisecondsPerDay};
  const bson::Date reference{reference_day * kMillisecondsPerDay -
                             zone.offset_seconds(utc_reference) * 1000};
  const auto below = [](int64_t distance, int64_t size) {
    return distance - floor_divide(distance, size) * size;
  };
  if (!is_of_months(unit) && !is_of_days(unit)) {
    int64_t size = 0;
    int64_t distance = 0;
    int64_t begin = 0;
    if (__builtin_mul_overflow(bin_size, milliseconds_of(unit), &size)) {
      return fail(kBinSizeOverflow, "dateTrunc overflowed");
    }
    if (__builtin_sub_overflow(date.milliseconds, reference.milliseconds, &distance)) {
      return fail(kTruncationOverflow, "dateTrunc overflowed");
    }
    // Computes the result from the remainder, because floor_divide(...) * size may overflow even if
    // the result does not.
    int64_t remainder = distance % size;
    if (remainder < 0) remainder += size;
    if (__builtin_sub_overflow(date.milliseconds, remainder, &begin)) {
      return fail(ErrorCode{5439001}, "dateTrunc overflowed");
    }
    return bson::Date{begin};
  }
  if (bin_size > kBinSizeMax)
    return fail(kUnsupportedBinSize, "dateTrunc unsupported binSize value");
  GM_ASSIGN(const int64_t distance, count_between(reference, date, unit, zone, start_of_week));
  return add_to_date(reference, unit, distance - below(distance, bin_size), zone);
}

}  // namespace gridmount::query::expressions
