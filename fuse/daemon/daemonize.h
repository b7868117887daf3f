// Moves the program into the background. The background process reports the success of the start to
// the process that the user started.
//
// Not thread-safe: only the main thread uses a Startup. in_background() must be called before any
// other thread is started.
#pragma once

#include <string>

#include "command_line/exit_status.h"
#include "engine/base/error.h"

namespace gridmount::fuse {

// Tells the waiting parent whether the start succeeded. In the foreground, prints failures only.
class Startup {
 public:
  // Does not fork. failed() then prints its message on stderr.
  static Startup in_foreground() { return Startup(-1); }

  // Forks. On success, returns in the child only, in a new session and with "/" as the working
  // directory. The parent waits until the child calls ready() or failed(), prints the message of
  // failed(), and exits with 0 or with the status of failed(). If the child dies before that, the
  // parent prints how it ended and exits with kFailure. Must be called before threads are started
  // and before the store is opened. Fails with OperationFailed if the pipe or the child cannot be
  // made, or if the child cannot change to "/".
  static Result<Startup> in_background();

  Startup(Startup&& other) noexcept : pipe_(other.pipe_) { other.pipe_ = -1; }
  Startup& operator=(Startup&&) = delete;
  ~Startup();

  // Must be called when the mount can be used. In the background, makes the parent exit with 0, and
  // detaches this process from the terminal. In the foreground, does nothing.
  void ready();
  // Prints "gridmount: message" on the user's stderr. Returns `status`.
  ExitStatus failed(ExitStatus status, const std::string& message);

 private:
  explicit Startup(int pipe) : pipe_(pipe) {}
  void report(ExitStatus status, const std::string& message);

  int pipe_;  // the writing end; -1 in the foreground and after the report
};

}  // namespace gridmount::fuse
