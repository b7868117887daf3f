#include "http/http_date.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace gridmount::http {

namespace {

constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr int64_t kFirstSecond = -62135596800;  // 0001-01-01
constexpr int64_t kLastSecond = 253402300799;   // 9999-12-31T23:59:59

std::optional<int> number_at(std::string_view text, size_t at, size_t digits) {
  int number = 0;
  const char* const begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, begin + digits, number);
  // from_chars() accepts a minus sign.
  if (error != std::errc() || end != begin + digits || *begin == '-') return std::nullopt;
  return number;
}

std::optional<int> month_at(std::string_view text, size_t at) {
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(at, 3));
  if (month == kMonths.end()) return std::nullopt;
  return static_cast<int>(month - kMonths.begin()) + 1;
}

bool is_day(std::string_view text) {
  return std::find(kDays.begin(), kDays.end(), text) != kDays.end();
}

struct Date {
  std::optional<int> year;
  std::optional<int> month;
  std::optional<int> day;
};

// Returns the seconds since 1970 of the date and of the time "08:49:37" at that place of the text.
std::optional<int64_t> seconds_of(const Date& given, std::string_view text, size_t at) {
  using namespace std::chrono;
  const auto hour = number_at(text, at, 2);
  const auto minute = number_at(text, at + 3, 2);
  const auto second = number_at(text, at + 6, 2);
  const bool has_form = text[at + 2] == ':' && text[at + 5] == ':';
  if (!given.year || !given.month || !given.day || !hour || !minute || !second || !has_form) {
    return std::nullopt;
  }
  const year_month_day date(year(*given.year), month(static_cast<unsigned>(*given.month)),
                            day(static_cast<unsigned>(*given.day)));
  // A minute may have a leap second.
  if (!date.ok() || *given.year == 0 || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  return sys_seconds(sys_days(date)).time_since_epoch().count() + *hour * 3600 + *minute * 60 +
         *second;
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<int64_t> parse_preferred(std::string_view text) {
  if (text.size() != 29) return std::nullopt;
  const bool has_form = is_day(text.substr(0, 3)) && text.substr(3, 2) == ", " && text[7] == ' ' &&
                        text[11] == ' ' && text[16] == ' ' && text.substr(25) == " GMT";
  if (!has_form) return std::nullopt;
  return seconds_of({number_at(text, 12, 4), month_at(text, 8), number_at(text, 5, 2)}, text, 17);
}

// Two digits mean a year of this century, or of the last one if the year would be more than 50
// years ahead.
std::optional<int> year_of(std::optional<int> digits) {
  using namespace std::chrono;
  if (!digits) return std::nullopt;
  const int now = static_cast<int>(year_month_day(floor<days>(system_clock::now())).year());
  const int year = now - now % 100 + *digits;
  return year > now + 50 ? year - 100 : year;
}

// "Sunday, 06-Nov-94 08:49:37 GMT"
std::optional<int64_t> parse_rfc_850(std::string_view text, size_t comma) {
  const std::string_view weekday = text.substr(0, comma);
  text.remove_prefix(comma);
  if (text.size() != 24) return std::nullopt;
  const bool has_form = weekday.ends_with("day") && is_day(weekday.substr(0, 3)) &&
                        text.substr(0, 2) == ", " && text[4] == '-' && text[8] == '-' &&
                        text[11] == ' ' && text.substr(20) == " GMT";
  if (!has_form) return std::nullopt;
  return seconds_of({year_of(number_at(text, 9, 2)), month_at(text, 5), number_at(text, 2, 2)},
                    text, 12);
}

// "Sun Nov  6 08:49:37 1994"
std::optional<int64_t> parse_asctime(std::string_view text) {
  if (text.size() != 24) return std::nullopt;
  const bool has_form = is_day(text.substr(0, 3)) && text[3] == ' ' && text[7] == ' ' &&
                        text[10] == ' ' && text[19] == ' ';
  if (!has_form) return std::nullopt;
  const auto day = text[8] == ' ' ? number_at(text, 9, 1) : number_at(text, 8, 2);
  return seconds_of({number_at(text, 20, 4), month_at(text, 4), day}, text, 11);
}

}  // namespace

std::string http_date(int64_t seconds) {
  using namespace std::chrono;
  const sys_seconds time(std::chrono::seconds(std::clamp(seconds, kFirstSecond, kLastSecond)));
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     kDays.at(weekday(day).c_encoding()), static_cast<unsigned>(date.day()),
                     kMonths.at(static_cast<unsigned>(date.month()) - 1),
                     static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

std::optional<int64_t> parse_http_date(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) return parse_asctime(text);
  return comma == kDays[0].size() ? parse_preferred(text) : parse_rfc_850(text, comma);
}

std::string iso_time(int64_t milliseconds) {
  using namespace std::chrono;
  const sys_time<std::chrono::milliseconds> time(std::chrono::milliseconds(
      std::clamp(milliseconds, kFirstSecond * 1000, kLastSecond * 1000 + 999)));
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace gridmount::http
