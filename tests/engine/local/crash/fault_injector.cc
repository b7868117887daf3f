#include "tests/engine/local/crash/fault_injector.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gridmount::local::testing {

// The instance is not a local static, because the guard of a local static may block or allocate,
// which is not possible within an allocation.
static constinit FaultInjector the_instance;

FaultInjector& FaultInjector::instance() {
  return the_instance;
}

void FaultInjector::arm(const Fault& fault, const char* folder) {
  fault_ = fault;
  folder_ = folder;
  folder_bytes_ = std::strlen(folder);
  seen_ = 0;
  fired_ = false;
  armed_ = true;
}

bool FaultInjector::count() {
  const uint64_t number = ++seen_;
  if (number < fault_.number || (number > fault_.number && !fault_.lasting)) return false;
  fired_ = true;
  errno = fault_.code;
  return true;
}

bool FaultInjector::is_counted(int fd) const {
  char link[32];
  char path[1024];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = ::readlink(link, path, sizeof path);
  const auto folder_end = static_cast<ssize_t>(folder_bytes_);
  return size >= folder_end && std::memcmp(path, folder_, folder_bytes_) == 0 &&
         (size == folder_end || path[folder_end] == '/');
}

}  // namespace gridmount::local::testing
