// Runs work in a child process, because the store that the work reads may be damaged. A damaged
// page may make LMDB fail one of its own assertions or read outside the file. Such a crash ends
// only the child, and the program can report what was being read.
//
// Not thread-safe: must be used before the process has started a thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "command_line/exit_status.h"

namespace gridmount::tools {

// Records what the work is reading at the moment. The waiting process can read this, even after the
// child has ended.
class Whereabouts {
 public:
  virtual ~Whereabouts() = default;
  virtual void at(std::string_view place) = 0;
};

// Runs `work` in a child, and returns after_flush() of the result. If the child crashes, calls
// `crashed` in this process with the name of the signal and the last place, and returns the result
// of `crashed`. Prints a message on stderr and returns kFailure if no child can be started, or if
// somebody else ends the child with a signal. If this process is killed, the child is killed too.
// Must be called before the process has started a thread. While `work` runs, stdout is
// line-buffered.
ExitStatus run_guarded(
    const std::function<ExitStatus(Whereabouts&)>& work,
    const std::function<ExitStatus(const std::string& signal, const std::string& place)>& crashed);

// Flushes stdout and returns `status`. If output could not be written, prints a message on stderr,
// and returns kFailure instead of kOk.
ExitStatus after_flush(ExitStatus status);

}  // namespace gridmount::tools
