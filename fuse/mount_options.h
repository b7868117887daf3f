// The comma-separated list behind -o, as mount(8) and /etc/fstab write it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// The options of a list, without empty ones. A backslash quotes a comma or a backslash.
std::vector<std::string> split_mount_options(std::string_view list);

// Takes one option into `options`: our own (uid, gid, umask, bucket, ro, revisions, ...) into their
// fields, the usual generic ones into mount_options. What is for mount(8) or systemd alone (nofail,
// _netdev, x-*, ...) is left to them. BadValue for unknown options and bad values.
Status parse_mount_option(std::string_view option, Options& options);

// The list for --help.
std::string_view mount_options_help();

}  // namespace gridmount::fuse
