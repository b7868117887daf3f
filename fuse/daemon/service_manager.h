// Reports the mount to systemd by the protocol of sd_notify(3). Does nothing unless NOTIFY_SOCKET
// is set, as it is for a unit of Type=notify. Thread-safe.
#pragma once

#include <string>

namespace gridmount::fuse {

// Called when the mount answers. Must be called by the process that serves the mount. `status` is
// one line for people.
void notify_manager_ready(const std::string& status);
// Called when the mount ends.
void notify_manager_stopping();

}  // namespace gridmount::fuse
