#include "tools/gridstore/top/top_screen.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "command_line/byte_units.h"
#include "engine/base/log_text.h"
#include "engine/bson/builder.h"
#include "tools/gridstore/top/status_fields.h"

namespace gridmount::tools {

namespace {

constexpr size_t kNameColumns = 44;

double seconds_between(const TopSample& before, const TopSample& now) {
  return std::max(std::chrono::duration<double>(now.at - before.at).count(), 1e-3);
}

template <typename Thing>
const Thing* find_named(const std::vector<Thing>& things, std::string_view name) {
  const auto found = std::find_if(things.begin(), things.end(),
                                  [&](const Thing& thing) { return thing.name == name; });
  return found == things.end() ? nullptr : &*found;
}

// After a restart, a server counts from zero again.
uint64_t growth(uint64_t before, uint64_t now) {
  return now >= before ? now - before : now;
}

double rate_of(const Counter& counter, const TopSample& before, const TopSample& now) {
  const Counter* const earlier = find_named(before.counters, counter.name);
  const uint64_t grown = growth(earlier != nullptr ? earlier->value : 0, counter.value);
  return static_cast<double>(grown) / seconds_between(before, now);
}

bool is_before(const ActivityRate& a, const ActivityRate& b, TopOrder order) {
  switch (order) {
    case TopOrder::kBusy:
      return a.busy > b.busy;
    case TopOrder::kRate:
      return a.per_second > b.per_second;
    case TopOrder::kLatency:
      return a.seconds_each > b.seconds_each;
    case TopOrder::kName:
      break;
  }
  return a.name < b.name;
}

// Appends lines with the parts. Each line has as many parts as fit.
void append_list(const std::vector<std::string>& parts, size_t columns,
                 std::vector<std::string>& lines) {
  std::string line;
  for (const std::string& part : parts) {
    const std::string separator = line.empty() ? "" : ", ";
    if (!line.empty() && line.size() + separator.size() + part.size() > columns) {
      lines.push_back(std::move(line));
      line = part;
    } else {
      line += separator + part;
    }
  }
  if (!line.empty()) lines.push_back(std::move(line));
}

std::vector<std::string> counter_texts(const TopSample& before, const TopSample& now) {
  std::vector<std::string> parts;
  for (const Counter& counter : now.counters) {
    const double rate = rate_of(counter, before, now);
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%.0f", rate);
    parts.push_back(
        counter.name + " " +
        (counter.is_bytes ? in_byte_units(count_of(rate)) : std::string(number.data())) + "/s");
  }
  return parts;
}

// Returns a row of the table, with the name at the left and the numbers at the right.
std::string row(const std::string& name, const char* per_second, const char* each,
                const char* busy) {
  std::string text = log_text(name);
  if (text.size() > kNameColumns) text = text.substr(0, kNameColumns - 3) + "...";
  text.resize(kNameColumns, ' ');
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), " %12s %10s %8s", per_second, each, busy);
  return text + numbers.data();
}

std::string row(const ActivityRate& rate) {
  constexpr double kMilliseconds = 1000;
  constexpr double kPercent = 100;
  std::array<std::array<char, 32>, 3> numbers{};
  std::snprintf(numbers[0].data(), numbers[0].size(), "%.1f", rate.per_second);
  std::snprintf(numbers[1].data(), numbers[1].size(), "%.3f", rate.seconds_each * kMilliseconds);
  std::snprintf(numbers[2].data(), numbers[2].size(), "%.1f", rate.busy * kPercent);
  return row(rate.name, numbers[0].data(), numbers[1].data(), numbers[2].data());
}

}  // namespace

std::vector<ActivityRate> rates_between(const TopSample& before, const TopSample& now,
                                        TopOrder order) {
  const double seconds = seconds_between(before, now);
  std::vector<ActivityRate> rates;
  for (const Activity& activity : now.activities) {
    const Activity* earlier = find_named(before.activities, activity.name);
    if (earlier != nullptr && earlier->count > activity.count) earlier = nullptr;  // restarted
    const uint64_t count = activity.count - (earlier != nullptr ? earlier->count : 0);
    if (count == 0) continue;
    const double spent =
        std::max(activity.seconds - (earlier != nullptr ? earlier->seconds : 0), 0.0);
    rates.push_back({activity.name, static_cast<double>(count) / seconds,
                     spent / static_cast<double>(count), spent / seconds});
  }
  std::stable_sort(rates.begin(), rates.end(), [&](const ActivityRate& a, const ActivityRate& b) {
    return is_before(a, b, order);
  });
  return rates;
}

std::string top_text(const TopScreen& screen, const TopSample& before, const TopSample& now) {
  std::vector<std::string> lines;
  lines.push_back(log_text(screen.title));
  append_list(now.state, screen.columns, lines);
  append_list(counter_texts(before, now), screen.columns, lines);
  for (const Pending& pending : now.pending) {
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%8.1f s  ", pending.seconds);
    lines.push_back(seconds.data() + log_text(pending.what));
  }
  lines.emplace_back();
  lines.push_back(row("OPERATIONS", "PER SECOND", "MS EACH", "BUSY %"));
  for (const ActivityRate& rate : rates_between(before, now, screen.order)) {
    lines.push_back(row(rate));
  }
  if (screen.lines > 0 && lines.size() > screen.lines) lines.resize(screen.lines);
  std::string text;
  for (std::string& line : lines) {
    if (line.size() > screen.columns) line.resize(screen.columns);
    text += line + '\n';
  }
  return text;
}

bson::Document top_document(const TopSample& before, const TopSample& now, TopOrder order) {
  bson::Builder out;
  out.append("seconds", seconds_between(before, now));
  out.open_document("rates");
  for (const Counter& counter : now.counters) {
    out.append(counter.name, rate_of(counter, before, now));
  }
  out.close();
  out.open_array("activities");
  for (const ActivityRate& rate : rates_between(before, now, order)) {
    out.push_open_document()
        .append("name", rate.name)
        .append("perSecond", rate.per_second)
        .append("secondsEach", rate.seconds_each)
        .append("busy", rate.busy)
        .close();
  }
  out.close();
  out.open_array("state");
  for (const std::string& state : now.state) out.push(bson::Value(state));
  out.close();
  out.open_array("pending");
  for (const Pending& pending : now.pending) {
    out.push_open_document()
        .append("what", pending.what)
        .append("seconds", pending.seconds)
        .close();
  }
  out.close();
  return std::move(out).finish();
}

}  // namespace gridmount::tools
