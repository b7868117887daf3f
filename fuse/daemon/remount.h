// mount(8)'s remount: the flags of a mount that is there are changed in the kernel. Its daemon goes
// on as it is, and so do all options that are its own.
#pragma once

#include "fuse/kernel/mount_point.h"
#include "fuse/options.h"

namespace gridmount::fuse {

// `ro`, `suid`, `dev`, `exec`, `sync` and their opposites become what a mount made with these
// options has: mount(8) gives all that are to hold, those that stay among them. Only root may.
// Refused where nothing, or another store, is mounted at the mount point; where files are open for
// writing, for `ro`; where the daemon itself was started with `ro`, for `rw`; and to begin or end
// with `noatime`, which the daemon sees to.
tl::expected<void, StartFailure> remount(const Options& options);

}  // namespace gridmount::fuse
