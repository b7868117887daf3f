// Parses the comma-separated list after -o, as mount(8) and /etc/fstab write it. Functions without
// state, so thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// Returns the options of a list, without empty options. A backslash quotes the character after it.
std::vector<std::string> split_mount_options(std::string_view list);

// Puts one option into `options`. Our own options (uid, gid, umask, bucket, ro, revisions, ...) go
// into their fields, and the usual generic ones into mount_options. Options for mount(8) or systemd
// only (nofail, _netdev, x-*, ...) are ignored. `options.remount` must already be set: a remount
// also accepts what the kernel lists for a mount. Fails with BadValue for unknown options and
// invalid values.
Status parse_mount_option(std::string_view option, GridmountOptions& options);

// Returns the list for --help.
std::string_view mount_options_help();

}  // namespace gridmount::fuse
