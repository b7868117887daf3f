// Going into the background, and how the process that was started there tells the one that the
// user started how it went.
#pragma once

#include <string>

#include "command_line/exit_status.h"
#include "engine/base/error.h"

namespace gridmount::fuse {

// Where the start is reported to: the waiting parent, or the user's terminal.
class Startup {
 public:
  // Nothing is forked; failed() prints.
  static Startup in_foreground() { return Startup(-1); }

  // Forks. In the parent this does not return: it waits for the report, prints the message of a
  // failure and exits with its status. The child comes back in a session of its own, in the folder
  // "/". To be called before threads are started and before the store is opened.
  static Result<Startup> in_background();

  Startup(Startup&& other) noexcept : pipe_(other.pipe_) { other.pipe_ = -1; }
  Startup& operator=(Startup&&) = delete;
  ~Startup();

  // The mount answers: the parent exits with 0, and this process lets go of the terminal.
  void ready();
  // Prints "gridmount: message" where the user sees it. Returns the status to exit with.
  ExitStatus failed(ExitStatus status, const std::string& message);

 private:
  explicit Startup(int pipe) : pipe_(pipe) {}
  void report(ExitStatus status, const std::string& message);

  int pipe_;  // the end to write to; -1 in the foreground and once reported
};

}  // namespace gridmount::fuse
