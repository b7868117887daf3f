#include "engine/bson/json_date.h"

#include <chrono>

namespace gridmount::bson {
namespace {

class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  std::optional<Date> date() {
    const int year = digits(4);
    sign('-');
    const int month = digits(2);
    sign('-');
    const int day = digits(2);
    sign('T');
    const int hour = digits(2);
    sign(':');
    const int minute = digits(2);
    sign(':');
    const int second = digits(2);
    const int millisecond = fraction();
    const int offset = offset_minutes();
    const std::chrono::year_month_day ymd{std::chrono::year(year),
                                          std::chrono::month(static_cast<unsigned>(month)),
                                          std::chrono::day(static_cast<unsigned>(day))};
    if (!good_ || !text_.empty() || !ymd.ok() || hour > 23 || minute > 59 || second > 59) {
      return std::nullopt;
    }
    const int64_t days = std::chrono::sys_days(ymd).time_since_epoch().count();
    const int64_t minutes = (days * 24 + hour) * 60 + minute - offset;
    return Date{(minutes * 60 + second) * 1000 + millisecond};
  }

 private:
  bool next_is_digit() const { return !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; }

  int digits(int count) {
    int value = 0;
    for (; count > 0 && good_; --count) {
      good_ = next_is_digit();
      if (!good_) break;
      value = value * 10 + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    return value;
  }

  // Returns whether `c` is the next character, and skips it if it is.
  bool skip(char c) {
    if (!good_ || !text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  void sign(char c) { good_ = skip(c) && good_; }

  int fraction() {
    if (!skip('.')) return 0;
    good_ = next_is_digit();
    int value = 0;
    for (int unit = 100; next_is_digit(); unit /= 10) {
      value += (text_[0] - '0') * unit;
      text_.remove_prefix(1);
    }
    return value;
  }

  int offset_minutes() {
    if (skip('Z')) return 0;
    const bool east = skip('+');
    if (!east) sign('-');
    const int hours = digits(2);
    const bool colon = skip(':');
    const int minutes = colon || next_is_digit() ? digits(2) : 0;
    if (hours > 23 || minutes > 59) good_ = false;
    return (hours * 60 + minutes) * (east ? 1 : -1);
  }

  std::string_view text_;
  bool good_ = true;
};

}  // namespace

std::optional<Date> date_from_text(std::string_view text) {
  return DateReader(text).date();
}

}  // namespace gridmount::bson
