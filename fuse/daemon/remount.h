// mount(8)'s remount: changes the flags of an existing mount in the kernel. The daemon that serves
// the mount does not learn of the change, and keeps its options. Not thread-safe.
#pragma once

#include "fuse/kernel/mount_point.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// Sets `ro`, `suid`, `dev`, `exec`, `sync` and their opposites to the values that a new mount with
// these options would get. mount(8) passes all options that apply from now on, including those that
// do not change. Sends requests to the daemon, and waits until it answers. Fails with kFailure,
// except where the list says otherwise:
// - no store is mounted at the mount point (kMountPointUnusable);
// - the user is not root (kPermissionDenied);
// - `rw`, if the daemon was started with `ro` (kStoreReadOnly); the other flags change even so;
// - another store is mounted at the mount point;
// - `ro`, while files are open for writing;
// - `noatime`, if the mount does not have it, because the daemon implements it itself;
// - statvfs(2) or mount(2) fails for another reason.
tl::expected<void, StartFailure> remount(const GridmountOptions& options);

}  // namespace gridmount::fuse
