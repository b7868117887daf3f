// Parses dates from text. Source: MongoDB manual, "$dateFromString". Without a format, the parser
// accepts ISO 8601 dates (calendar, week and ordinal, with and without separators), dates with an
// English month name in either order, 7/4/17 and 04-07-2017. A time of day may follow, and then an
// offset or the name of an offset.

#include <algorithm>
#include <array>
#include <optional>

#include "engine/bson/text.h"
#include "engine/query/expression/calendar.h"
#include "engine/query/expression/date_format.h"
#include "engine/query/expression/month_names.h"
#include "engine/query/expression/time_zone.h"

namespace gridmount::query::expressions {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct ParsedParts {
  std::optional<int64_t> year, month, day, day_of_year;
  std::optional<int64_t> iso_year, iso_week, iso_weekday;
  int64_t hour = 0, minute = 0, second = 0, millisecond = 0;
  std::optional<int64_t> offset_seconds;
};

struct NamedZone {
  std::string_view name;
  int32_t minutes;
};

constexpr NamedZone kNamedZones[] = {
    {"utc", 0},     {"gmt", 0},    {"wet", 0},    {"west", 60},  {"bst", 60},   {"cet", 60},
    {"cest", 120},  {"eet", 120},  {"eest", 180}, {"msk", 180},  {"ist", 120},  {"sast", 120},
    {"jst", 540},   {"kst", 540},  {"awst", 480}, {"acst", 570}, {"acdt", 630}, {"aest", 600},
    {"aedt", 660},  {"nzst", 720}, {"nzdt", 780}, {"est", -300}, {"edt", -240}, {"cst", -360},
    {"cdt", -300},  {"mst", -420}, {"mdt", -360}, {"pst", -480}, {"pdt", -420}, {"akst", -540},
    {"akdt", -480}, {"hst", -600},
};

// Returns the offset, in seconds, of an abbreviation or of a military letter, A to Z without J.
std::optional<int64_t> zone_seconds(std::string_view name) {
  if (name.size() == 1 && is_letter(name[0])) {
    const int letter = lower(name[0]);
    if (letter == 'z') return 0;
    if (letter == 'j') return std::nullopt;
    if (letter > 'm') return int64_t{'m' - letter} * 3600;
    return int64_t{letter - 'a' + (letter < 'j' ? 1 : 0)} * 3600;
  }
  for (const NamedZone& zone : kNamedZones) {
    if (std::ranges::equal(zone.name, name, {}, {}, lower)) return int64_t{zone.minutes} * 60;
  }
  return std::nullopt;
}

// Takes tokens from the front of a text. A function that fails to take its token leaves the text
// unchanged.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  size_t position() const { return at_; }
  bool at_end() const { return at_ == text_.size(); }
  char current() const { return at_end() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (current() != c || at_end()) return false;
    ++at_;
    return true;
  }
  bool take_one_of(std::string_view set) {
    if (at_end() || set.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }
  void skip_spaces() {
    while (take_one_of(" \t")) {
    }
  }
  // Returns how many digits come next.
  size_t digits() const {
    size_t count = 0;
    while (at_ + count < text_.size() && is_digit(text_[at_ + count])) ++count;
    return count;
  }
  std::optional<int64_t> number(size_t least, size_t most) {
    const size_t count = std::min(digits(), most);
    if (count < least) return std::nullopt;
    int64_t value = 0;
    for (size_t i = 0; i < count; ++i) value = value * 10 + (text_[at_ + i] - '0');
    at_ += count;
    return value;
  }
  std::string_view letters() const {
    size_t count = 0;
    while (at_ + count < text_.size() && is_letter(text_[at_ + count])) ++count;
    return text_.substr(at_, count);
  }
  void skip(size_t count) { at_ += count; }
  // Ignores case.
  bool take_word(std::string_view word) {
    const std::string_view next = text_.substr(at_);
    if (next.size() < word.size()) return false;
    for (size_t i = 0; i < word.size(); ++i) {
      if (lower(next[i]) != lower(word[i])) return false;
    }
    at_ += word.size();
    return true;
  }
  // Takes the name of a month, and returns the number of the month, 1 to 12.
  std::optional<int64_t> month_name(bool is_full) {
    for (size_t i = 0; i < kMonthNames.size(); ++i) {
      if (take_word(is_full ? kMonthNames[i] : kMonthNames[i].substr(0, 3))) {
        return static_cast<int64_t>(i) + 1;
      }
    }
    return std::nullopt;
  }
  // Takes Z, UTC, GMT, +hh, +hhmm, +hh:mm, GMT+hh, EST or A, and returns the offset in seconds.
  std::optional<int64_t> offset() {
    const size_t begin = at_;
    const std::string_view word = letters();
    const std::optional<int64_t> named = zone_seconds(word);
    if (named) {
      skip(word.size());
      const bool is_utc = *named == 0 && word.size() == 3;
      if (!is_utc || (current() != '+' && current() != '-')) return named;
    }
    const bool negative = current() == '-';
    if (take_one_of("+-")) {
      const size_t count = digits();
      const std::optional<int64_t> hours =
          number(count == 3 || count == 1 ? 1 : 2, count == 3 ? 1 : 2);
      if (hours) {
        std::optional<int64_t> minutes = 0;
        if (count > 2 || take(':')) minutes = number(2, 2);
        if (minutes && *hours < 24 && *minutes < 60) {
          const int64_t seconds = *hours * 3600 + *minutes * 60;
          return negative ? -seconds : seconds;
        }
      }
    }
    at_ = begin;
    return std::nullopt;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

tl::unexpected<Error> fail_at(std::string_view text, size_t position, std::string_view reason) {
  const std::string found(bson::character_at(text, position));
  return fail(ErrorCode::kConversionFailure, "Error parsing date string '" + std::string(text) +
                                                 "'; " + std::to_string(position) + ": " +
                                                 std::string(reason) + " '" + found + "'");
}

// Returns the day that the parts describe, as the number of days since 1970-01-01. Returns nullopt
// if parts are missing. Fails if there is no such day.
Result<std::optional<int64_t>> days_of(const ParsedParts& parts, std::string_view text) {
  const auto invalid = [&] { return fail_at(text, text.size(), "The parsed date was invalid"); };
  if (parts.iso_year || parts.iso_week || parts.iso_weekday) {
    if (parts.year || parts.month || parts.day || parts.day_of_year) {
      return fail_at(text, text.size(), "Mixing of ISO dates with natural dates is not allowed");
    }
    const int64_t week = parts.iso_week.value_or(1);
    const int64_t weekday = parts.iso_weekday.value_or(1);
    if (!parts.iso_year || week < 1 || week > 53 || weekday < 1 || weekday > 7) return invalid();
    return std::optional(days_from_iso_week(*parts.iso_year, week, weekday));
  }
  if (!parts.year) return std::optional<int64_t>();
  if (parts.day_of_year) {
    const int64_t last = days_from_date(*parts.year + 1, 1, 1) - days_from_date(*parts.year, 1, 1);
    if (*parts.day_of_year < 1 || *parts.day_of_year > last) return invalid();
    return std::optional(days_from_date(*parts.year, 1, 1) + *parts.day_of_year - 1);
  }
  if (!parts.month || !parts.day) return std::optional<int64_t>();
  if (*parts.month < 1 || *parts.month > 12 || *parts.day < 1 ||
      *parts.day > days_in_month(*parts.year, static_cast<int>(*parts.month))) {
    return invalid();
  }
  return std::optional(days_from_date(*parts.year, *parts.month, *parts.day));
}

Result<bson::Date> date_of(const ParsedParts& parts, std::string_view text, const TimeZone& zone) {
  GM_ASSIGN(const std::optional<int64_t> days, days_of(parts, text));
  if (!days) {
    return fail(ErrorCode::kConversionFailure,
                "an incomplete date/time string has been found, with elements missing: \"" +
                    std::string(text) + "\"");
  }
  const bool is_midnight_after = parts.hour == 24 && parts.minute == 0 && parts.second == 0;
  if ((parts.hour > 23 && !is_midnight_after) || parts.minute > 59 || parts.second > 59) {
    return fail_at(text, text.size(), "The parsed time was invalid");
  }
  if (parts.offset_seconds && !zone.is_utc()) {
    return fail(ErrorCode::kConversionFailure,
                "you cannot pass in a date/time string with GMT offset together with a timezone "
                "argument");
  }
  const int64_t local = *days * kMillisecondsPerDay +
                        ((parts.hour * 60 + parts.minute) * 60 + parts.second) * 1000 +
                        parts.millisecond;
  if (parts.offset_seconds) return bson::Date{local - *parts.offset_seconds * 1000};
  return zone.from_local(local);
}

// Takes 2020-02-29, 2020/02/29, 20200229, 2020-W09-6, 2020W096, 2020-060, 2020-Feb-29, or 2020-02
// for the first of the month.
bool scan_iso_date(Scanner& scanner, ParsedParts& parts) {
  if (scanner.digits() == 8) {
    parts.year = scanner.number(4, 4);
    parts.month = scanner.number(2, 2);
    parts.day = scanner.number(2, 2);
    return true;
  }
  if (scanner.digits() != 4) return false;
  const std::optional<int64_t> year = scanner.number(4, 4);
  const bool has_slash = scanner.take('/');
  const bool has_dash = !has_slash && scanner.take('-');
  if (!has_slash && (scanner.current() == 'W' || scanner.current() == 'w')) {
    scanner.skip(1);
    parts.iso_year = year;
    parts.iso_week = scanner.number(2, 2);
    if (has_dash ? scanner.take('-') : is_digit(scanner.current())) {
      parts.iso_weekday = scanner.number(1, 1);
      if (!parts.iso_weekday) return false;
    }
    return parts.iso_week.has_value();
  }
  if (!has_slash && !has_dash) return false;
  parts.year = year;
  if (has_dash && scanner.digits() == 3) {
    parts.day_of_year = scanner.number(3, 3);
    return true;
  }
  if (has_dash && is_letter(scanner.current())) {
    parts.month = scanner.month_name(true);
    if (!parts.month) parts.month = scanner.month_name(false);
    if (!parts.month || !scanner.take('-')) return false;
    parts.day = scanner.number(1, 2);
    return parts.day.has_value();
  }
  parts.month = scanner.number(1, 2);
  if (!scanner.take(has_slash ? '/' : '-')) {
    if (has_dash) parts.day = 1;
    return parts.month.has_value();
  }
  parts.day = scanner.number(1, 2);
  return parts.month && parts.day;
}

// Takes 7/4/17 and 7/4/2017 with the month first, and 04-07-2017 and 04.07.2017 with the day first.
bool scan_short_date(Scanner& scanner, ParsedParts& parts) {
  const std::optional<int64_t> first = scanner.number(1, 2);
  const char separator = scanner.current();
  if (!first || !scanner.take_one_of("/-.")) return false;
  const std::optional<int64_t> second = scanner.number(1, 2);
  if (!second || !scanner.take(separator)) return false;
  const size_t digits = scanner.digits();
  if (digits != 4 && (digits != 2 || separator != '/')) return false;
  parts.year = scanner.number(2, 4);
  if (digits == 2) *parts.year += *parts.year < 70 ? 2000 : 1900;
  parts.month = separator == '/' ? first : second;
  parts.day = separator == '/' ? second : first;
  return true;
}

bool scan_day(Scanner& scanner, ParsedParts& parts) {
  parts.day = scanner.number(1, 2);
  if (!parts.day) return false;
  for (const std::string_view ending : {"st", "nd", "rd", "th"}) {
    if (scanner.take_word(ending)) break;
  }
  return true;
}

// Takes July 4th, 2017; 4 July 2017; Tue, 04-Jul-2017.
bool scan_named_date(Scanner& scanner, ParsedParts& parts) {
  for (const std::string_view name :
       {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}) {
    if (!scanner.take_word(name) && !scanner.take_word(name.substr(0, 3))) continue;
    scanner.take(',');
    scanner.skip_spaces();
    break;
  }
  const bool day_first = is_digit(scanner.current());
  const auto skip_between = [&] {
    while (scanner.take_one_of(" \t-,./")) {
    }
  };
  if (day_first && !scan_day(scanner, parts)) return false;
  skip_between();
  parts.month = scanner.month_name(true);
  if (!parts.month) parts.month = scanner.month_name(false);
  if (!parts.month || is_letter(scanner.current())) return false;
  skip_between();
  if (!day_first && !scan_day(scanner, parts)) return false;
  skip_between();
  parts.year = scanner.number(4, 4);
  return parts.year.has_value();
}

// Takes the digits after a decimal point and returns them in milliseconds.
std::optional<int64_t> scan_fraction(Scanner& scanner) {
  const size_t count = scanner.digits();
  std::optional<int64_t> fraction = scanner.number(1, 3);
  for (size_t i = count; fraction && i < 3; ++i) *fraction *= 10;
  return fraction;
}

// Takes the "am" or "pm" of a 12-hour clock, if there is one. Returns false if the hour is not
// valid on a 12-hour clock.
bool scan_half_day(Scanner& scanner, ParsedParts& parts) {
  scanner.skip_spaces();
  const bool is_am = scanner.take_word("am");
  const bool is_pm = !is_am && scanner.take_word("pm");
  if (!is_am && !is_pm) return true;
  if (parts.hour < 1 || parts.hour > 12) return false;
  parts.hour = parts.hour % 12 + (is_pm ? 12 : 0);
  return true;
}

// Takes 12:34, 12:34:56.789, 12:34.56, 1:34 pm, 1 pm, 1234 or 123456.
bool scan_time(Scanner& scanner, ParsedParts& parts) {
  const bool is_packed = scanner.digits() == 6 || scanner.digits() == 4;
  const bool has_seconds = scanner.digits() == 6;
  const std::optional<int64_t> hour = scanner.number(is_packed ? 2 : 1, 2);
  if (!hour) return false;
  if (!is_packed && !scanner.take(':')) {
    parts.hour = *hour;
    scanner.skip_spaces();
    const char next = lower(scanner.current());
    return (next == 'a' || next == 'p') && scan_half_day(scanner, parts) &&
           !is_letter(scanner.current());
  }
  const std::optional<int64_t> minute = scanner.number(2, 2);
  if (!minute) return false;
  parts.hour = *hour;
  parts.minute = *minute;
  if (is_packed ? has_seconds : scanner.take_one_of(":.")) {
    const std::optional<int64_t> second = scanner.number(2, 2);
    if (!second) return false;
    parts.second = *second;
    if (scanner.take_one_of(".,")) {
      const std::optional<int64_t> fraction = scan_fraction(scanner);
      if (!fraction) return false;
      parts.millisecond = *fraction;
      scanner.skip(scanner.digits());
    }
  }
  return scan_half_day(scanner, parts);
}

Status scan_specifier(char specifier, Scanner& scanner, ParsedParts& parts, std::string_view text) {
  std::optional<int64_t> value;
  const auto take = [&](size_t least, size_t most) {
    value = scanner.number(least, most);
    return value.has_value();
  };
  bool taken = false;
  switch (specifier) {
    case 'b':
    case 'B':
      parts.month = scanner.month_name(specifier == 'B');
      taken = parts.month.has_value();
      break;
    case 'Y':
      if ((taken = take(4, 4))) parts.year = value;
      break;
    case 'm':
      if ((taken = take(1, 2))) parts.month = value;
      break;
    case 'd':
      if ((taken = take(1, 2))) parts.day = value;
      break;
    case 'j':
      if ((taken = take(1, 3))) parts.day_of_year = value;
      break;
    case 'G':
      if ((taken = take(1, 4))) parts.iso_year = value;
      break;
    case 'V':
      if ((taken = take(1, 2))) parts.iso_week = value;
      break;
    case 'u':
      if ((taken = take(1, 1))) parts.iso_weekday = value;
      break;
    case 'H':
      if ((taken = take(1, 2))) parts.hour = *value;
      break;
    case 'M':
      if ((taken = take(2, 2))) parts.minute = *value;
      break;
    case 'S':
      if ((taken = take(2, 2))) parts.second = *value;
      break;
    case 'L':
      value = scan_fraction(scanner);
      if ((taken = value.has_value())) parts.millisecond = *value;
      break;
    case 'z':
      scanner.skip_spaces();
      parts.offset_seconds = scanner.offset();
      taken = parts.offset_seconds.has_value();
      break;
    case 'Z': {
      const bool negative = scanner.take('-');
      if (!negative) scanner.take('+');
      if ((taken = take(1, 4))) parts.offset_seconds = *value * (negative ? -60 : 60);
      break;
    }
    default:
      taken = scanner.take('%');
  }
  if (taken) return {};
  if (scanner.at_end()) return fail_at(text, scanner.position(), "Data missing");
  return fail_at(text, scanner.position(), "Format does not match: %" + std::string(1, specifier));
}

}  // namespace

Result<bson::Date> parse_date(std::string_view text, const TimeZone& zone) {
  ParsedParts parts;
  Scanner scanner(text);
  scanner.skip_spaces();
  const size_t begin = scanner.position();
  const auto unexpected = [&] { return fail_at(text, scanner.position(), "Unexpected character"); };
  if (!scan_iso_date(scanner, parts)) {
    if (parts.year || parts.iso_year) return unexpected();
    const auto again = [&] {
      parts = ParsedParts();
      scanner = Scanner(text);
      scanner.skip(begin);
    };
    again();
    if (!scan_short_date(scanner, parts)) {
      again();
      if (!scan_named_date(scanner, parts)) return unexpected();
    }
  }
  if (scanner.take_one_of("Tt")) {
    if (!scan_time(scanner, parts)) return unexpected();
  } else {
    scanner.take(',');
    scanner.skip_spaces();
    if (scanner.take_word("noon")) {
      parts.hour = 12;
    } else if (!scanner.take_word("midnight") && is_digit(scanner.current()) &&
               !scan_time(scanner, parts)) {
      return unexpected();
    }
  }
  scanner.skip_spaces();
  if (!scanner.at_end()) {
    parts.offset_seconds = scanner.offset();
    if (!parts.offset_seconds && scanner.letters().size() > 1) {
      return fail_at(text, scanner.position(),
                     "passing a time zone identifier as part of the string is not allowed");
    }
    scanner.skip_spaces();
    if (!scanner.at_end()) return unexpected();
  }
  return date_of(parts, text, zone);
}

Result<bson::Date> parse_date(std::string_view text, std::string_view format,
                              const TimeZone& zone) {
  ParsedParts parts;
  Scanner scanner(text);
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '%') {
      GM_TRY(scan_specifier(format[++i], scanner, parts, text));
    } else if (!scanner.take(format[i])) {
      return fail_at(text, scanner.position(),
                     scanner.at_end() ? "Data missing" : "Format literal not found");
    }
  }
  if (!scanner.at_end()) return fail_at(text, scanner.position(), "Trailing data");
  return date_of(parts, text, zone);
}

}  // namespace gridmount::query::expressions
