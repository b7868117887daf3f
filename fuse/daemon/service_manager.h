// What systemd is told of the mount, by the protocol of sd_notify(3). Where nobody has asked for it
// (NOTIFY_SOCKET, which a unit of Type=notify gets), nothing happens.
#pragma once

#include <string>

namespace gridmount::fuse {

// The mount answers; this process is the one that serves it. `status` is one line for people.
void tell_manager_ready(const std::string& status);
// The mount ends.
void tell_manager_stopping();

}  // namespace gridmount::fuse
