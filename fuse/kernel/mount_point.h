// Whether a folder can be mounted on: checked before the store is touched.
#pragma once

#include <filesystem>
#include <string>

#include "command_line/exit_status.h"
#include "engine/base/error.h"

namespace gridmount::fuse {

// A failure of the start with the exit status it ends in.
struct StartFailure {
  ExitStatus status = ExitStatus::kFailure;
  std::string message;
};

// The mount point without symbolic links and "..", as the kernel lists it. Refused are: what is
// missing or no folder, what another gridmount is mounted on, the remains of a mount whose daemon
// was killed, and a folder that would hide the store or lie within it. A folder with something in
// it is accepted, as fuse3 does; the mount hides that.
tl::expected<std::filesystem::path, StartFailure> check_mount_point(
    const std::filesystem::path& mount_point, const std::filesystem::path& store);

// Whether a gridmount of that store is listed by the kernel.
bool is_mounted_somewhere(const std::filesystem::path& store);

// The store that a gridmount has mounted on that folder, as the kernel lists both; empty if there
// is none.
std::string store_mounted_at(const std::filesystem::path& mount_point);

// The device number, "major:minor", of the gridmount on that folder, empty if there is none. Found
// without asking the mount.
std::string mounted_device(const std::filesystem::path& mount_point);

}  // namespace gridmount::fuse
