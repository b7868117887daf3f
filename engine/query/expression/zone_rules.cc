#include "engine/query/expression/zone_rules.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "engine/base/thread_safety.h"
#include "engine/query/expression/calendar.h"

namespace gridmount::query::expressions {
namespace {

constexpr std::string_view kDatabaseFolder = "/usr/share/zoneinfo/";
constexpr size_t kNameBytesMax = 64;
// The limit for the size of a file. The largest file in use has 4 KiB.
constexpr size_t kFileBytesMax = size_t{1} << 20;
// The limit for the number of cached names. Names that do not exist are cached too.
constexpr size_t kCachedMax = 1000;

// Allows letters, digits, '_', '-', '+', and single slashes inside. So no name leads out of the
// directory of the database.
bool is_zone_name(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax || name.front() == '/' || name.back() == '/') {
    return false;
  }
  return std::all_of(name.begin(), name.end(),
                     [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+' ||
                              c == '/';
                     }) &&
         name.find("//") == std::string_view::npos;
}

std::shared_ptr<const ZoneRules> read_zone(const std::string& name) {
  std::ifstream file(std::string(kDatabaseFolder) + name, std::ios::binary);
  std::string bytes;
  char block[4096];
  while (file && bytes.size() <= kFileBytesMax) {
    file.read(block, sizeof block);
    bytes.append(block, static_cast<size_t>(file.gcount()));
  }
  std::optional<ZoneRules> rules = ZoneRules::parse(bytes);
  return rules ? std::make_shared<const ZoneRules>(*std::move(rules)) : nullptr;
}

// Reads consecutive big-endian numbers.
class ZoneFileReader {
 public:
  explicit ZoneFileReader(std::string_view bytes) : bytes_(bytes) {}

  bool has(size_t size) const { return size <= bytes_.size() - at_; }
  void skip(size_t size) { at_ += size; }
  int64_t number(size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      value = value << 8 | static_cast<unsigned char>(bytes_[at_ + i]);
    }
    at_ += size;
    return size == 4 ? static_cast<int32_t>(value) : static_cast<int64_t>(value);
  }
  uint8_t byte() { return static_cast<uint8_t>(bytes_[at_++]); }
  std::string_view rest() const { return bytes_.substr(at_); }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

struct Cache {
  Mutex mutex;
  // The value is null for a name without a valid file.
  std::map<std::string, std::shared_ptr<const ZoneRules>, std::less<>> zones GM_GUARDED_BY(mutex);
};

constexpr size_t kHeaderBytes = 44;

struct ZoneFileHeader {
  size_t utc_marks, standard_marks, leaps, changes, types, letters;

  size_t block_bytes(size_t time_bytes) const {
    return changes * time_bytes + changes + types * 6 + letters + leaps * (time_bytes + 4) +
           standard_marks + utc_marks;
  }
};

std::optional<ZoneFileHeader> read_header(ZoneFileReader& reader) {
  if (!reader.has(kHeaderBytes) || !reader.rest().starts_with("TZif")) return std::nullopt;
  reader.skip(20);
  std::array<size_t, 6> counts{};
  for (size_t& count : counts) {
    const int64_t number = reader.number(4);
    if (number < 0 || number > static_cast<int64_t>(kFileBytesMax)) return std::nullopt;
    count = static_cast<size_t>(number);
  }
  return ZoneFileHeader{counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
}

// Reads a POSIX TZ string part by part.
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  bool take(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool at_number() const {
    return !text_.empty() &&
           (text_[0] == '+' || text_[0] == '-' || (text_[0] >= '0' && text_[0] <= '9'));
  }
  // Takes "CET" or "<+03>".
  bool name() {
    size_t size = 0;
    if (text_.starts_with('<')) {
      size = text_.find('>');
      if (size == std::string_view::npos) return false;
      text_.remove_prefix(size + 1);
      return true;
    }
    while (size < text_.size() && ((text_[size] >= 'a' && text_[size] <= 'z') ||
                                   (text_[size] >= 'A' && text_[size] <= 'Z'))) {
      ++size;
    }
    text_.remove_prefix(size);
    return size >= 3;
  }
  std::optional<int> number() {
    int value = 0;
    size_t size = 0;
    while (size < text_.size() && size < 4 && text_[size] >= '0' && text_[size] <= '9') {
      value = value * 10 + (text_[size++] - '0');
    }
    text_.remove_prefix(size);
    if (size == 0) return std::nullopt;
    return value;
  }
  // Takes [+-]h[:mm[:ss]] and returns it in seconds.
  std::optional<int64_t> time() {
    const bool negative = take('-');
    if (!negative) take('+');
    int64_t seconds = 0;
    int64_t unit = 3600;
    do {
      const std::optional<int> part = number();
      if (!part) return std::nullopt;
      seconds += *part * unit;
      unit /= 60;
    } while (unit > 0 && take(':'));
    return negative ? -seconds : seconds;
  }

 private:
  std::string_view text_;
};

}  // namespace

std::shared_ptr<const ZoneRules> ZoneRules::find(std::string_view name) {
  static Cache cache;
  if (!is_zone_name(name)) return nullptr;
  {
    const MutexLock lock(cache.mutex);
    const auto found = cache.zones.find(name);
    if (found != cache.zones.end()) return found->second;
  }
  std::shared_ptr<const ZoneRules> rules = read_zone(std::string(name));
  const MutexLock lock(cache.mutex);
  if (cache.zones.size() >= kCachedMax) cache.zones.clear();
  return cache.zones.emplace(std::string(name), std::move(rules)).first->second;
}

std::optional<ZoneRules> ZoneRules::parse(std::string_view file) {
  ZoneFileReader reader(file);
  std::optional<ZoneFileHeader> header = read_header(reader);
  // Files of version 1 end in 2037 and are no longer produced.
  if (!header || file[4] < '2' || !reader.has(header->block_bytes(4))) return std::nullopt;
  reader.skip(header->block_bytes(4));
  header = read_header(reader);
  if (!header || header->types == 0 || !reader.has(header->block_bytes(8))) return std::nullopt;
  ZoneRules rules;
  for (size_t i = 0; i < header->changes; ++i) rules.changes_.push_back(reader.number(8));
  std::vector<uint8_t> types;
  for (size_t i = 0; i < header->changes; ++i) types.push_back(reader.byte());
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < header->types; ++i) {
    offsets.push_back(reader.number(4));
    reader.skip(2);
  }
  for (const uint8_t type : types) {
    if (type >= offsets.size()) return std::nullopt;
    rules.offsets_.push_back(offsets[type]);
  }
  if (!std::is_sorted(rules.changes_.begin(), rules.changes_.end())) return std::nullopt;
  rules.first_offset_ = offsets[0];
  reader.skip(header->letters + header->leaps * 12 + header->standard_marks + header->utc_marks);
  std::string_view footer = reader.rest();
  if (!footer.starts_with('\n') || footer.size() < 2) return rules;
  footer.remove_prefix(1);
  footer = footer.substr(0, footer.find('\n'));
  if (footer.empty()) return rules;
  rules.rule_ = parse_rule(footer);
  if (!rules.rule_) return std::nullopt;
  return rules;
}

std::optional<ZoneRules::Rule> ZoneRules::parse_rule(std::string_view text) {
  RuleReader reader(text);
  Rule rule;
  if (!reader.name()) return std::nullopt;
  // In a POSIX TZ string, offsets are positive west of UTC.
  const std::optional<int64_t> standard = reader.time();
  if (!standard) return std::nullopt;
  rule.standard = -*standard;
  if (reader.at_end()) return rule;
  rule.has_summer_time = true;
  if (!reader.name()) return std::nullopt;
  rule.summer = rule.standard + 3600;
  if (reader.at_number()) {
    const std::optional<int64_t> summer = reader.time();
    if (!summer) return std::nullopt;
    rule.summer = -*summer;
  }
  for (ChangeDay* const change : {&rule.begin, &rule.end}) {
    if (!reader.take(',')) return std::nullopt;
    if (reader.take('M')) {
      const std::optional<int> month = reader.number();
      if (!month || !reader.take('.')) return std::nullopt;
      const std::optional<int> week = reader.number();
      if (!week || !reader.take('.')) return std::nullopt;
      const std::optional<int> day = reader.number();
      if (!day || *month < 1 || *month > 12 || *week < 1 || *week > 5 || *day > 6) {
        return std::nullopt;
      }
      change->month = *month;
      change->week = *week;
      change->day = *day;
    } else {
      change->kind = reader.take('J') ? ChangeDay::Kind::kJulian : ChangeDay::Kind::kDayOfYear;
      const std::optional<int> day = reader.number();
      if (!day || *day > 365) return std::nullopt;
      change->day = *day;
    }
    if (reader.take('/')) {
      const std::optional<int64_t> seconds = reader.time();
      if (!seconds) return std::nullopt;
      change->seconds = *seconds;
    }
  }
  if (!reader.at_end()) return std::nullopt;
  return rule;
}

int64_t ZoneRules::ChangeDay::in_year(int64_t year) const {
  int64_t days = 0;
  switch (kind) {
    case Kind::kJulian: {
      // The day is 1 to 365. The leap day has no number.
      const bool behind_leap_day = day >= 60 && days_in_month(year, 2) == 29;
      days = days_from_date(year, 1, day) + (behind_leap_day ? 1 : 0);
      break;
    }
    case Kind::kDayOfYear:
      days = days_from_date(year, 1, 1) + day;
      break;
    case Kind::kWeekday: {
      const int64_t first = days_from_date(year, month, 1);
      const int64_t weekday = iso_weekday(first) % 7;  // Sunday is 0
      int64_t in_month = (day - weekday + 7) % 7 + (week - 1) * 7;
      // The fifth weekday is the last one if the month has only four.
      if (in_month >= days_in_month(year, month)) in_month -= 7;
      days = first + in_month;
      break;
    }
  }
  return days * 86'400 + seconds;
}

int64_t ZoneRules::Rule::offset_at(int64_t utc_seconds) const {
  if (!has_summer_time) return standard;
  const int64_t year = date_from_days(floor_divide(utc_seconds + standard, 86'400)).year;
  const int64_t from = begin.in_year(year) - standard;
  const int64_t to = end.in_year(year) - summer;
  // In the southern hemisphere, summer time spans the turn of the year.
  const bool is_summer =
      from < to ? utc_seconds >= from && utc_seconds < to : utc_seconds >= from || utc_seconds < to;
  return is_summer ? summer : standard;
}

int64_t ZoneRules::offset_at(int64_t utc_seconds) const {
  const auto next = std::upper_bound(changes_.begin(), changes_.end(), utc_seconds);
  if (next == changes_.end() && rule_) return rule_->offset_at(utc_seconds);
  if (next == changes_.begin()) return first_offset_;
  return offsets_[static_cast<size_t>(next - changes_.begin()) - 1];
}

}  // namespace gridmount::query::expressions
