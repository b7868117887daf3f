// Writes lines to stderr as mongofiles does: local time with milliseconds and zone, a tab, the
// message.
//
// line() is thread-safe: each line is one write(2). set_verbosity() is not, so it must be called
// before other threads exist.
#pragma once

#include <string_view>

namespace gridmount::tools {

class Log {
 public:
  // The lowest verbosity at which a line is written.
  enum Level : int { kAlways = 0, kInfo = 1, kDebug = 2 };

  // `verbosity` is the sum of the -v options. Below 0, nothing is written (--quiet).
  void set_verbosity(int verbosity) { verbosity_ = verbosity; }

  // Writes the line if the verbosity is at least `level`. Hides the progress line before.
  void line(Level level, std::string_view message) const;

 private:
  int verbosity_ = 0;
};

}  // namespace gridmount::tools
