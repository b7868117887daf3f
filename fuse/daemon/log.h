// Where the program's log lines go: stderr in the foreground, syslog in the background, or a file.
#pragma once

#include "engine/base/error.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// Sets spdlog's default logger. Called after going into the background. Fails if the log file
// cannot be opened.
Status set_up_log(const Options& options);

// Goes on in a file newly opened by the name of --log-file, after the old one was renamed or
// removed. On failure, which is logged, the old one stays. Nothing to do without a log file.
// Thread-safe.
void reopen_log();

}  // namespace gridmount::fuse
