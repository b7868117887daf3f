// Checks whether a directory can be a mount point, before the store is opened. If
// /proc/self/mountinfo cannot be read, nothing counts as mounted. Thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "command_line/exit_status.h"
#include "engine/base/error.h"

namespace gridmount::fuse {

// The reason why the start failed, and the exit status of the program.
struct StartFailure {
  ExitStatus status = ExitStatus::kFailure;
  std::string message;
};

// Makes the return value of a function that fails.
inline tl::unexpected<StartFailure> refuse(ExitStatus status, std::string message) {
  return tl::unexpected<StartFailure>(StartFailure{status, std::move(message)});
}

// Returns the mount point without symbolic links and "..", as the kernel lists it. Fails with
// kMountPointUnusable if the path is missing or not a directory, and with kPermissionDenied if it
// is not accessible. Fails with kMountPointBusy if gridmount is mounted there, even if its daemon
// was killed, or if the daemon of another FUSE mount there was killed. Fails with kFailure if the
// directory is the folder `store`, contains it, or lies within it. `store` is unset for a
// deployment. Accepts a directory that is not empty, as fuse3 does. The mount hides its contents.
tl::expected<std::filesystem::path, StartFailure> check_mount_point(
    const std::filesystem::path& mount_point, const std::optional<std::filesystem::path>& store);

// Returns true if the kernel lists a gridmount whose source has exactly the text of `store`. Like
// store_mounted_at() and mounted_device(), ignores a mount if there is a later mount at the same
// place.
bool is_mounted_somewhere(const std::filesystem::path& store);

// Returns the store that gridmount has mounted on that directory, or an empty string if there is
// none. `mount_point` and the result have the forms in which the kernel lists them.
std::string store_mounted_at(const std::filesystem::path& mount_point);

// Returns the device number "major:minor" of the mount that gridmount has on that directory, or an
// empty string if there is none. Does not access the mount.
std::string mounted_device(const std::filesystem::path& mount_point);

}  // namespace gridmount::fuse
