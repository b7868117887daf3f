// Moves the program into the background. The background process reports the success of the start to
// the process that the user started.
//
// Not thread-safe. For the main thread, before others are started.
#pragma once

#include <string>

#include "command_line/exit_status.h"
#include "engine/base/error.h"

namespace gridmount::fuse {

// Reports the start to the waiting parent, or on the user's terminal.
class Startup {
 public:
  // Does not fork. failed() prints.
  static Startup in_foreground() { return Startup(-1); }

  // Forks. Does not return in the parent, which waits for the report, prints the message of a
  // failure and exits with its status. The child returns in a new session, with "/" as its working
  // directory. Must be called before threads are started and before the store is opened.
  static Result<Startup> in_background();

  Startup(Startup&& other) noexcept : pipe_(other.pipe_) { other.pipe_ = -1; }
  Startup& operator=(Startup&&) = delete;
  ~Startup();

  // Called when the mount answers. The parent exits with 0, and this process detaches from the
  // terminal.
  void ready();
  // Prints "gridmount: message" where the user sees it. Returns the exit status.
  ExitStatus failed(ExitStatus status, const std::string& message);

 private:
  explicit Startup(int pipe) : pipe_(pipe) {}
  void report(ExitStatus status, const std::string& message);

  int pipe_;  // the writing end; -1 in the foreground and after the report
};

}  // namespace gridmount::fuse
