#include "http/http_date.h"

#include <spdlog/fmt/fmt.h>

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
  if (error != std::errc() || end != begin + digits || number < 0) return std::nullopt;
  return number;
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
  using namespace std::chrono;
  constexpr std::string_view kForm = "Sun, 06 Nov 1994 08:49:37 GMT";
  if (text.size() != kForm.size()) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const bool has_form = std::find(kDays.begin(), kDays.end(), text.substr(0, 3)) != kDays.end() &&
                        text.substr(3, 2) == ", " && text[7] == ' ' && text[11] == ' ' &&
                        text[16] == ' ' && text[19] == ':' && text[22] == ':' &&
                        text.substr(25) == " GMT" && month != kMonths.end();
  if (!has_form) return std::nullopt;
  const auto day = number_at(text, 5, 2);
  const auto year_number = number_at(text, 12, 4);
  const auto hour = number_at(text, 17, 2);
  const auto minute = number_at(text, 20, 2);
  const auto second = number_at(text, 23, 2);
  if (!day || !year_number || !hour || !minute || !second) return std::nullopt;
  const year_month_day date(year(*year_number),
                            std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
                            std::chrono::day(static_cast<unsigned>(*day)));
  // A minute may have a leap second.
  if (!date.ok() || *year_number == 0 || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  return sys_seconds(sys_days(date)).time_since_epoch().count() + *hour * 3600 + *minute * 60 +
         *second;
}

}  // namespace gridmount::http
