// The comma-separated list behind -o, as mount(8) and /etc/fstab write it.
#pragma once

#include <string_view>

#include "engine/error.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// Takes one list into `options`: our own (uid, gid, umask, bucket, ro, rw) into their fields, the
// usual generic ones into mount_options. A backslash quotes a comma or a backslash. BadValue for
// unknown options and bad values.
Status parse_mount_options(std::string_view list, Options& options);

// The list for --help.
std::string_view mount_options_help();

}  // namespace gridmount::fuse
