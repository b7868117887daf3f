// When the clocks of a place are changed: a file of the system's time zone database (RFC 8536).
// Internal to this folder.
//
// Read here and not with the C library, whose time zone belongs to the whole process.
// Thread-safety: immutable once read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gridmount::query::expressions {

class ZoneRules {
 public:
  // Null if there is none of that name, or if the system has no time zone database.
  static std::shared_ptr<const ZoneRules> find(std::string_view name);
  // The contents of such a file; nothing if they are none.
  static std::optional<ZoneRules> parse(std::string_view file);

  // East of UTC.
  int64_t offset_at(int64_t utc_seconds) const;

 private:
  // "M3.2.0/2": the second Sunday in March at 2:00. Or a day of the year.
  struct ChangeDay {
    enum class Kind { kWeekday, kJulian, kDayOfYear };
    Kind kind = Kind::kWeekday;
    int month = 0;
    int week = 0;
    int day = 0;
    int64_t seconds = 7200;

    // Local seconds of the change in that year, on the clock that was valid before.
    int64_t in_year(int64_t year) const;
  };
  // The rule behind the last change in the file.
  struct Rule {
    int64_t standard = 0;
    bool has_summer_time = false;
    int64_t summer = 0;
    ChangeDay begin;
    ChangeDay end;

    int64_t offset_at(int64_t utc_seconds) const;
  };

  static std::optional<Rule> parse_rule(std::string_view text);

  std::vector<int64_t> changes_;  // UTC seconds, ascending
  std::vector<int64_t> offsets_;  // behind each change
  int64_t first_offset_ = 0;      // before the first change
  std::optional<Rule> rule_;
};

}  // namespace gridmount::query::expressions
