#include "command_line/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "command_line/byte_units.h"
#include "engine/base/log_text.h"
#include "engine/bson/text.h"

namespace gridmount {

namespace {

constexpr std::chrono::seconds kFirst{1};
constexpr std::chrono::milliseconds kInterval{200};
// Reading the clock costs about as much as reading a small record.
constexpr uint64_t kThingsPerLook = 64;
// The weight of the rate since the last drawing. The earlier rate has the rest of the weight.
constexpr double kWeight = 0.1;
constexpr int kUsualColumns = 80;
constexpr std::string_view kErase = "\r\033[K";

std::atomic<Progress*> newest = nullptr;

// If the terminal cannot be written, there is no other place to report it.
void write_to(int fd, std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(fd, text.data(), text.size());
}

bool is_capable_terminal(int fd) {
  const char* const kind = std::getenv("TERM");
  return ::isatty(fd) == 1 && kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

std::string in_time(double seconds) {
  constexpr double kMax = 99.0 * 3600;
  constexpr int kPerMinute = 60;
  constexpr int kPerHour = 3600;
  const int whole = static_cast<int>(std::min(seconds, kMax));
  const int hours = whole / kPerHour;
  std::array<char, 32> text{};
  if (hours > 0) {
    std::snprintf(text.data(), text.size(), "%d:%02d:%02d", hours, whole % kPerHour / kPerMinute,
                  whole % kPerMinute);
  } else {
    std::snprintf(text.data(), text.size(), "%d:%02d", whole / kPerMinute, whole % kPerMinute);
  }
  return text.data();
}

// Returns the longest beginning of the text that fits into the columns and ends at the end of a
// character. Characters of three bytes and more are often wide, so they count as two columns.
std::string_view that_fits(std::string_view text, size_t columns) {
  for (size_t at = 0, used = 0; at < text.size();) {
    const size_t bytes = bson::character_at(text, at).size();
    used += bytes < 3 ? 1 : 2;
    if (used > columns) return text.substr(0, at);
    at += bytes;
  }
  return text;
}

}  // namespace

void hide_progress() {
  if (Progress* const progress = newest.load()) progress->hide();
}

Progress::Progress(std::string things, bool is_quiet)
    : Progress(
          std::move(things),
          Terminal{.fd = !is_quiet && is_capable_terminal(STDERR_FILENO) ? STDERR_FILENO : -1}) {}

Progress::Progress(std::string things, Terminal terminal)
    : things_(std::move(things)),
      terminal_(std::move(terminal)),
      begin_(terminal_.now()),
      next_draw_((begin_ + kFirst).time_since_epoch().count()),
      drawn_(begin_) {
  if (is_shown()) newest = this;
}

Progress::~Progress() {
  hide();
  Progress* self = this;
  newest.compare_exchange_strong(self, nullptr);
}

void Progress::add(uint64_t amount) {
  done_ += amount;
  if (!is_shown()) return;
  // Bytes are added in large blocks, other things one by one.
  if (!things_.empty() && ++looks_ % kThingsPerLook != 0) return;
  const Clock::time_point now = terminal_.now();
  const Clock::rep time = now.time_since_epoch().count();
  Clock::rep due = next_draw_;
  if (time < due) return;
  // If several threads get here, only one of them draws.
  if (!next_draw_.compare_exchange_strong(due, (now + kInterval).time_since_epoch().count()))
    return;
  const MutexLock lock(mutex_);
  draw(now);
}

void Progress::set_subject(std::string_view subject) {
  if (!is_shown()) return;
  const MutexLock lock(mutex_);
  subject_ = log_text(subject);
}

void Progress::draw(Clock::time_point now) {
  write_to(terminal_.fd, std::string(kErase) + line(now));
  is_visible_ = true;
}

void Progress::hide() {
  const MutexLock lock(mutex_);
  erase();
}

void Progress::erase() {
  if (!is_visible_) return;
  write_to(terminal_.fd, kErase);
  is_visible_ = false;
}

std::string Progress::line(Clock::time_point now) {
  constexpr double kWhole = 100;
  const uint64_t done = done_;
  // The work may have grown since its amount was counted.
  const uint64_t expected = expected_ == 0 ? 0 : std::max(expected_.load(), done);
  const double seconds = std::chrono::duration<double>(now - drawn_).count();
  if (seconds > 0) {
    const double rate = static_cast<double>(done - drawn_done_) / seconds;
    rate_ = rate_ == 0 ? rate : rate_ * (1 - kWeight) + rate * kWeight;
    drawn_ = now;
    drawn_done_ = done;
  }
  std::string text;
  if (expected != 0) {
    std::array<char, 16> share{};
    std::snprintf(share.data(), share.size(), "%3.0f %%  ",
                  static_cast<double>(done) * kWhole / static_cast<double>(expected));
    text += share.data();
  }
  text += shown(done);
  if (expected != 0) text += " of " + shown(expected);
  if (!things_.empty()) text += " " + things_;
  text += "  " + shown(static_cast<uint64_t>(rate_)) + "/s";
  if (expected != 0 && rate_ > 0) {
    text += "  " + in_time(static_cast<double>(expected - done) / rate_) + " left";
  }
  if (!subject_.empty()) text += "  " + subject_;
  // Some terminals show an empty line after a line that fills the last column.
  return std::string(that_fits(text, static_cast<size_t>(std::max(columns() - 1, 1))));
}

std::string Progress::shown(uint64_t amount) const {
  return things_.empty() ? in_byte_units(amount) : std::to_string(amount);
}

int Progress::columns() const {
  if (terminal_.columns > 0) return terminal_.columns;
  winsize size{};
  if (::ioctl(terminal_.fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

}  // namespace gridmount
