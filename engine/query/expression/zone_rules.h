// The clock changes of a time zone, from a file of the system's time zone database (RFC 8536).
// Internal to engine/query. This class does not use the C library, because the C library's time
// zone applies to the whole process.
//
// Thread-safety: immutable, so thread-safe. find() is thread-safe too.
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
  // Returns the zone, or null if no zone has this name, the file of the zone is not valid, or the
  // system has no time zone database. The process caches the result, so a later change of the
  // database may have no effect.
  static std::shared_ptr<const ZoneRules> find(std::string_view name);
  // Parses the contents of a file of the database. Returns nullopt if they are not valid.
  static std::optional<ZoneRules> parse(std::string_view file);

  // Returns the offset at this time, in seconds. The offset is positive east of UTC.
  int64_t offset_at(int64_t utc_seconds) const;

 private:
  // The day and time of a clock change. "M3.2.0/2" is the second Sunday in March at 2:00. The day
  // may also be a day of the year.
  struct ChangeDay {
    enum class Kind { kWeekday, kJulian, kDayOfYear };
    Kind kind = Kind::kWeekday;
    int month = 0;
    int week = 0;
    int day = 0;
    int64_t seconds = 7200;

    // Returns the time of the change in that year, in seconds since 1970 on the local clock before
    // the change.
    int64_t in_year(int64_t year) const;
  };
  // The rule that applies after the last change in the file.
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
  std::vector<int64_t> offsets_;  // the offset after each change
  int64_t first_offset_ = 0;      // the offset before the first change
  std::optional<Rule> rule_;
};

}  // namespace gridmount::query::expressions
