#include "fuse/daemon/remount.h"

#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace gridmount::fuse {

namespace {

tl::unexpected<StartFailure> fail_remount(std::string message) {
  return refuse(ExitStatus::kFailure, std::move(message));
}

struct Flag {
  std::string_view option;
  std::string_view opposite;
  unsigned long bit;  // mount(2)
  bool by_default;    // libfuse's default if neither is given
};

constexpr std::array<Flag, 4> kFlags{{{"nosuid", "suid", MS_NOSUID, true},
                                      {"nodev", "dev", MS_NODEV, true},
                                      {"noexec", "exec", MS_NOEXEC, false},
                                      {"sync", "async", MS_SYNCHRONOUS, false}}};

// If no flag of access times is given, the kernel leaves these flags as they are.
unsigned long wanted_flags(const GridmountOptions& options) {
  unsigned long flags = options.read_only ? MS_RDONLY : 0;
  for (const Flag& flag : kFlags) {
    bool is_set = flag.by_default;
    for (const std::string& option : options.mount_options) {
      if (option == flag.option) is_set = true;
      if (option == flag.opposite) is_set = false;
    }
    if (is_set) flags |= flag.bit;
  }
  return flags;
}

// Returns true if the daemon itself is read-only. The daemon checks this before it looks for the
// attribute, so an attempt to remove a missing attribute shows it.
bool is_read_only(const std::string& mount_point) {
  return removexattr(mount_point.c_str(), "user.gridmount.remounted") != 0 && errno == EROFS;
}

int change(const GridmountOptions& options, unsigned long flags) {
  return mount(options.store.c_str(), options.mount_point.c_str(), "fuse.gridmount",
               MS_REMOUNT | flags, "");
}

tl::expected<void, StartFailure> check_is_mounted(const GridmountOptions& options) {
  const std::string shown = options.mount_point.string();
  const std::string mounted = store_mounted_at(options.mount_point);
  if (mounted.empty()) {
    return refuse(ExitStatus::kMountPointUnusable, "-o remount: no store is mounted at " + shown);
  }
  std::error_code error;
  if (mounted != options.store.string() &&
      !std::filesystem::equivalent(mounted, options.store, error)) {
    return fail_remount("-o remount: the store that is mounted at " + shown + " is " + mounted +
                        ", not " + options.store.string());
  }
  return {};
}

}  // namespace

tl::expected<void, StartFailure> remount(const GridmountOptions& wanted) {
  GridmountOptions options = wanted;
  std::error_code error;
  if (const auto real = std::filesystem::canonical(options.mount_point, error); !error) {
    options.mount_point = real;
  }
  if (auto is_there = check_is_mounted(options); !is_there) return is_there;
  const std::string shown = options.mount_point.string();
  struct statvfs now {};
  if (statvfs(shown.c_str(), &now) != 0) {
    return fail_remount("-o remount: " + shown + ": " + strerror(errno));
  }
  const bool wants_noatime =
      std::count(options.mount_options.begin(), options.mount_options.end(), "noatime") > 0;
  if (wants_noatime && (now.f_flag & ST_NOATIME) == 0) {
    return fail_remount(
        "-o remount: the daemon handles noatime itself, so it cannot be changed; unmount " + shown +
        " and mount it again");
  }
  const unsigned long flags = wanted_flags(options);
  if (change(options, flags) != 0) {
    const int error_number = errno;
    if (error_number == EPERM) {
      return refuse(ExitStatus::kPermissionDenied, "-o remount: only root may do that");
    }
    const bool is_busy = error_number == EBUSY && options.read_only;
    return fail_remount("-o remount: " + shown + ": " +
                        (is_busy ? "files are open for writing" : strerror(error_number)));
  }
  if (!options.read_only && is_read_only(shown)) {
    (void)change(options, flags | MS_RDONLY);
    return refuse(ExitStatus::kStoreReadOnly,
                  "-o remount,rw: " + shown +
                      " was mounted with ro, so its store is open read-only; unmount it "
                      "and mount it again");
  }
  return {};
}

}  // namespace gridmount::fuse
