// mount(8)'s remount: changes the flags of an existing mount in the kernel. The daemon of the mount
// and its own options do not change. Not thread-safe.
#pragma once

#include "fuse/kernel/mount_point.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// Sets `ro`, `suid`, `dev`, `exec`, `sync` and their opposites to what a new mount with these
// options would get. mount(8) passes all options that apply from now on, including those that do
// not change. Only root may do this. Fails in these cases:
// - no store, or another store, is mounted at the mount point;
// - `ro`, while files are open for writing;
// - `rw`, if the daemon itself was started with `ro`;
// - a change of `noatime`, which the daemon implements itself.
tl::expected<void, StartFailure> remount(const GridmountOptions& options);

}  // namespace gridmount::fuse
