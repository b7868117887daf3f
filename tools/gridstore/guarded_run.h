// Runs work on a store that may be damaged in a process of its own, so that pages that lead LMDB
// astray (its own assertions, a read outside the file) end that process and not the program, which
// then can say what was being read.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "command_line/exit_status.h"

namespace gridmount::tools {

// Where the work is, readable by the process that waits for it.
class Whereabouts {
 public:
  virtual ~Whereabouts() = default;
  virtual void at(std::string_view place) = 0;
};

// Returns what `work` returns. `ended` is called in this process if a signal ended the work's, with
// words for the signal and the place it was at; its result is the status then. A signal that ends
// this process ends the work too. To be called before the process has started a thread; stdout is
// line-buffered within `work`.
ExitStatus run_guarded(
    const std::function<ExitStatus(Whereabouts&)>& work,
    const std::function<ExitStatus(const std::string& signal, const std::string& place)>& ended);

// Writes out what stdout still holds. What cannot be written is said on stderr, and a kOk becomes
// kFailure.
ExitStatus after_flush(ExitStatus status);

}  // namespace gridmount::tools
