// Reports the mount to systemd with the protocol of sd_notify(3). Does nothing unless the
// environment variable NOTIFY_SOCKET is set. systemd sets it for a unit of Type=notify.
// Thread-safe.
#pragma once

#include <string>

namespace gridmount::fuse {

// Must be called when the mount begins to answer the kernel, in the process that serves the mount.
// `status` is one line for people.
void notify_manager_ready(const std::string& status);
// Must be called when the mount begins to end.
void notify_manager_stopping();

}  // namespace gridmount::fuse
