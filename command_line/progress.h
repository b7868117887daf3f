// A line on the terminal that shows how far a command has come:
//
//     25 %  512.0 MiB of 2.0 GiB  110.3 MiB/s  0:14 left  holiday.mov
//
// It appears after a second, and disappears at the end. It never appears if `is_quiet` is true, if
// stderr is not a terminal, or if TERM is unset, empty or "dumb". No thread is needed, because
// add() draws the line again from time to time.
//
// Only one Progress that shows a line may exist at a time: hide_progress() knows only the one that
// was made last.
//
// Thread-safe. But while the object is made or destroyed, other threads must use neither the object
// nor hide_progress().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/base/thread_safety.h"

namespace gridmount {

// Erases the line, if one is shown. Must be called before something else is written to the
// terminal, on stdout or stderr. The line appears again later.
void hide_progress();

class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  // For tests.
  struct Terminal {
    int fd;           // the line is written to it; -1: nothing is shown
    int columns = 0;  // the width; 0: the width of the terminal
    std::function<Clock::time_point()> now = Clock::now;
  };

  // `things` is the plural of what is counted, for example "documents". It is empty for bytes,
  // which are shown with units.
  explicit Progress(std::string things, bool is_quiet = false);
  Progress(std::string things, Terminal terminal);
  // Erases the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Returns true if a line may appear. Otherwise the caller need not find out the amount for
  // expect().
  bool is_shown() const { return terminal_.fd >= 0; }

  // Adds to the expected amount. If the sum stays 0, the line shows no percentage and no time left.
  void expect(uint64_t amount) { expected_ += amount; }
  // Adds to the amount that is done, and draws the line if it is due.
  void add(uint64_t amount);
  // Sets the text at the end of the line, for example the name of the file that the command works
  // on. The text may contain any bytes.
  void set_subject(std::string_view subject) GM_EXCLUDES(mutex_);

 private:
  friend void hide_progress();

  void draw(Clock::time_point now) GM_REQUIRES(mutex_);
  void hide() GM_EXCLUDES(mutex_);
  void erase() GM_REQUIRES(mutex_);
  std::string line(Clock::time_point now) GM_REQUIRES(mutex_);
  std::string shown(uint64_t amount) const;
  int columns() const;

  const std::string things_;
  const Terminal terminal_;
  const Clock::time_point begin_;
  std::atomic<uint64_t> expected_ = 0;
  std::atomic<uint64_t> done_ = 0;
  // Calls of add(), unless bytes are counted. Every kThingsPerLook-th of them reads the clock.
  std::atomic<uint64_t> looks_ = 0;
  std::atomic<Clock::rep> next_draw_;

  Mutex mutex_;
  std::string subject_ GM_GUARDED_BY(mutex_);
  bool is_visible_ GM_GUARDED_BY(mutex_) = false;
  // For the rate: the time and the amount of the last drawing.
  Clock::time_point drawn_ GM_GUARDED_BY(mutex_);
  uint64_t drawn_done_ GM_GUARDED_BY(mutex_) = 0;
  double rate_ GM_GUARDED_BY(mutex_) = 0;  // per second; 0: not known yet
};

}  // namespace gridmount
