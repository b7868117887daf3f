// Where the program's log lines go: stderr in the foreground, syslog in the background, or a file.
#pragma once

#include "engine/error.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// Sets spdlog's default logger. Called after going into the background. Fails if the log file
// cannot be opened.
Status set_up_log(const Options& options);

}  // namespace gridmount::fuse
