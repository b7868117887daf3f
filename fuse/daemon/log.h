// Chooses where the program's log lines go: to stderr in the foreground, to syslog in the
// background, or to a file.
//
// reopen_log() is thread-safe. set_up_log() is not.
#pragma once

#include "engine/base/error.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// Sets spdlog's default logger. Must be called after the process has gone into the background.
// Fails with BadValue if the log file cannot be opened.
Status set_up_log(const GridmountOptions& options);

// Opens the file named by --log-file again and continues in it, after the old file was renamed or
// removed. If that fails, logs the error and keeps the old file. Does nothing without a log file.
void reopen_log();

}  // namespace gridmount::fuse
