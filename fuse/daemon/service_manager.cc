#include "fuse/daemon/service_manager.h"

#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <system_error>

#include "engine/base/log.h"
#include "engine/base/log_text.h"

namespace gridmount::fuse {

namespace {

void notify_manager(const std::string& state) {
  const int result = sd_notify(0, state.c_str());
  if (result < 0) {
    log::warn("cannot notify the service manager: {}", std::generic_category().message(-result));
  }
}

}  // namespace

void notify_manager_ready(const std::string& status) {
  notify_manager("READY=1\nMAINPID=" + std::to_string(getpid()) + "\nSTATUS=" + log_text(status));
}

void notify_manager_stopping() {
  notify_manager("STOPPING=1\nSTATUS=unmounting");
}

}  // namespace gridmount::fuse
