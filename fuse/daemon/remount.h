// mount(8)'s remount: changes the flags of an existing mount in the kernel. The daemon of the mount
// and its own options do not change. Not thread-safe.
#pragma once

#include "fuse/kernel/mount_point.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// Sets `ro`, `suid`, `dev`, `exec`, `sync` and their opposites to what a new mount with these
// options would get. mount(8) passes all options that apply from now on, including those that do
// not change. Fails in these cases:
// - no store is mounted at the mount point (kMountPointUnusable);
// - the user is not root (kPermissionDenied);
// - `rw`, if the daemon itself was started with `ro` (kStoreReadOnly);
// - another store is mounted at the mount point (this and all other failures: kFailure);
// - `ro`, while files are open for writing;
// - `noatime`, if the mount does not have it, because the daemon implements it itself.
tl::expected<void, StartFailure> remount(const GridmountOptions& options);

}  // namespace gridmount::fuse
