// Writes lines to stderr as mongofiles does: local time with milliseconds and zone, a tab, the
// message.
//
// line() is thread-safe: each line is one write(2). set_verbosity() is not thread-safe, so it must
// be called before other threads exist.
#pragma once

#include <string_view>

namespace gridmount::tools {

class Log {
 public:
  // The lowest verbosity at which a line is written.
  enum Level : int { kAlways = 0, kInfo = 1, kDebug = 2 };

  // `verbosity` is the level that the options -v give (Options::verbosity), or -1 for --quiet. With
  // -1, line() writes nothing.
  void set_verbosity(int verbosity) { verbosity_ = verbosity; }

  // Writes the line if the verbosity is at least `level`. First hides the progress line.
  void line(Level level, std::string_view message) const;

 private:
  int verbosity_ = 0;
};

}  // namespace gridmount::tools
