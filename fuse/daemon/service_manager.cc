#include "fuse/daemon/service_manager.h"

#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <system_error>

#include "engine/base/log_text.h"

namespace gridmount::fuse {

namespace {

void tell(const std::string& state) {
  const int result = sd_notify(0, state.c_str());
  if (result < 0) {
    spdlog::warn("cannot notify the service manager: {}", std::generic_category().message(-result));
  }
}

}  // namespace

void tell_manager_ready(const std::string& status) {
  tell("READY=1\nMAINPID=" + std::to_string(getpid()) + "\nSTATUS=" + log_text(status));
}

void tell_manager_stopping() {
  tell("STOPPING=1\nSTATUS=unmounting");
}

}  // namespace gridmount::fuse
