#include "tests/mount/differential/side.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gridmount::differential {

namespace {

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "differential: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(2);
}

}  // namespace

Side::Side(const std::string& root)
    : root_path_(root), root_fd_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (root_fd_ < 0) die(root);
}

Side::~Side() {
  release_all();
  ::close(root_fd_);
}

void Side::enter() const {
  if (::fchdir(root_fd_) != 0) die("entering " + root_path_);
}

void Side::put(size_t slot, Handle handle) {
  Handle& held = handles_.at(slot);
  if (held.fd >= 0) ::close(held.fd);
  held = handle;
}

void Side::put(size_t slot, Map map) {
  Map& held = maps_.at(slot);
  if (held.bytes != nullptr) {
    ::munmap(held.bytes, held.size);
    ::close(held.fd);
  }
  held = map;
}

size_t Side::reach(size_t slot) const {
  const Map& map = maps_.at(slot);
  struct stat now {};
  if (map.bytes == nullptr || ::fstat(map.fd, &now) != 0) return 0;
  return std::min(map.size, static_cast<size_t>(now.st_size));
}

void Side::release_all() {
  for (size_t slot = 0; slot < kMaps; ++slot) {
    if (maps_[slot].bytes != nullptr) ::msync(maps_[slot].bytes, maps_[slot].size, MS_SYNC);
    put(slot, Map{});
  }
  for (size_t slot = 0; slot < kHandles; ++slot) put(slot, Handle{});
}

ActingAs::ActingAs(const Actor& actor) : umask_before_(::umask(actor.umask)) {
  // The group comes first, because later the thread lacks the permission.
  gid_before_ = static_cast<gid_t>(::setfsgid(actor.gid));
  uid_before_ = static_cast<uid_t>(::setfsuid(actor.uid));
}

ActingAs::~ActingAs() {
  ::setfsuid(uid_before_);
  ::setfsgid(gid_before_);
  ::umask(umask_before_);
}

}  // namespace gridmount::differential
