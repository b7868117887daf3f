// A progress line on stderr that shows how much of the store has been read. It appears only if
// stderr is a terminal.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace gridmount::tools {

class Progress {
 public:
  Progress();
  ~Progress() { hide(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Returns true if stderr is a terminal.
  bool shown_at_all() const { return is_terminal_; }
  // Sets the number of records that will be read. Before this call, nothing is shown.
  void expect(uint64_t records) { total_ = records; }
  // Counts one record as read. From time to time, updates the line.
  void record_read();
  // Must be called before something else is written to the terminal.
  void hide();

 private:
  using Clock = std::chrono::steady_clock;
  void show();

  const bool is_terminal_;
  uint64_t total_ = 0;
  uint64_t read_ = 0;
  bool visible_ = false;
  Clock::time_point next_;
};

}  // namespace gridmount::tools
