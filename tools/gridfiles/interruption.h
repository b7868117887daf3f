// SIGINT and SIGTERM end a command cleanly: reads return, the upload is undone, the unfinished
// local file is removed, and the store is closed.
//
// Thread-safety: install() must be called once, before threads exist. The other functions are
// thread-safe.
#pragma once

#include <string>

#include "engine/base/error.h"

namespace gridmount::tools {

class Interruption {
 public:
  // Installs the handler of SIGINT and SIGTERM. The second of these signals kills the process. Also
  // ignores SIGPIPE, so that write(2) to a closed pipe fails and does not kill.
  static void install();

  // Fails with kInterrupted after a signal. Must be called between blocks of data, and when a
  // system call has returned EINTR.
  static Status check();

  // Returns mongofiles' message for the signal, such as "signal 'interrupt' received; forcefully
  // terminating".
  static std::string message();
};

}  // namespace gridmount::tools
