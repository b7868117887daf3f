// SIGINT and SIGTERM end a command in order: reads return, the upload is taken back, the unfinished
// local file removed, the store closed.
//
// Thread-safety: install() once, before threads exist; the rest from any thread.
#pragma once

#include <string>

#include "engine/base/error.h"

namespace gridmount::tools {

class Interruption {
 public:
  // Also ignores SIGPIPE: a closed pipe is an error of write(2). A second signal kills.
  static void install();

  // kInterrupted once a signal has come. Called between blocks of data and when a system call
  // returned EINTR.
  static Status check();

  // "signal 'interrupt' received; forcefully terminating", mongofiles' words.
  static std::string message();
};

}  // namespace gridmount::tools
