#include "fuse/kernel/mount_point.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace gridmount::fuse {

namespace {

// Decodes mountinfo, which writes space, tab, newline and backslash as three octal digits.
std::string unescape(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      result += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

struct Mounted {
  std::string place;
  std::string store;   // the source that is listed
  std::string device;  // "major:minor"
};

// Returns all visible gridmounts, in the order in which they were mounted. Source: proc(5),
// mountinfo.
std::vector<Mounted> list_mounted() {
  std::ifstream mounts("/proc/self/mountinfo");
  std::vector<Mounted> found;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string id, parent, device, root, place, word, type, source;
    fields >> id >> parent >> device >> root >> place;
    while (fields >> word && word != "-") {
    }
    fields >> type >> source;
    place = unescape(place);
    // A later mount hides the earlier mounts at the same place.
    std::erase_if(found, [&](const Mounted& mounted) { return mounted.place == place; });
    if (type == "fuse.gridmount") found.push_back({place, unescape(source), device});
  }
  return found;
}

// Returns the store mounted on that directory, or an empty string if there is none.
std::string mounted_store(const std::string& mount_point) {
  for (const Mounted& mounted : list_mounted()) {
    if (mounted.place == mount_point) return mounted.store;
  }
  return "";
}

bool is_within(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  auto in = inner.begin();
  for (auto out = outer.begin(); out != outer.end(); ++out, ++in) {
    if (out->empty()) continue;
    if (in == inner.end() || *in != *out) return false;
  }
  return true;
}

}  // namespace

std::string store_mounted_at(const std::filesystem::path& mount_point) {
  return mounted_store(mount_point.string());
}

std::string mounted_device(const std::filesystem::path& mount_point) {
  for (const Mounted& mounted : list_mounted()) {
    if (mounted.place == mount_point.string()) return mounted.device;
  }
  return "";
}

bool is_mounted_somewhere(const std::filesystem::path& store) {
  const std::vector<Mounted> all = list_mounted();
  return std::any_of(all.begin(), all.end(),
                     [&](const Mounted& mounted) { return mounted.store == store.string(); });
}

tl::expected<std::filesystem::path, StartFailure> check_mount_point(
    const std::filesystem::path& mount_point, const std::optional<std::filesystem::path>& store) {
  const std::string shown = mount_point.string();
  if (std::string mounted = mounted_store(shown); !mounted.empty()) {
    // This is not stat(2), because the kernel may answer stat(2) from its cache long after the
    // daemon has ended.
    struct statfs unused {};
    if (statfs(shown.c_str(), &unused) != 0 && errno == ENOTCONN) {
      return refuse(ExitStatus::kMountPointBusy,
                    "mount point " + shown + " holds the remains of a mount of " + mounted +
                        " whose process is gone; remove them with: fusermount3 -u " + shown);
    }
    return refuse(ExitStatus::kMountPointBusy,
                  "mount point " + shown + " is busy: " + mounted + " is mounted there already");
  }
  struct stat attributes {};
  if (stat(shown.c_str(), &attributes) != 0) {
    const int error_number = errno;
    if (error_number == ENOTCONN) {
      return refuse(ExitStatus::kMountPointBusy,
                    "mount point " + shown +
                        " holds the remains of a dead mount; remove them with: fusermount3 -u " +
                        shown);
    }
    if (error_number == EACCES) {
      return refuse(ExitStatus::kPermissionDenied,
                    "mount point " + shown + ": " + strerror(error_number));
    }
    return refuse(ExitStatus::kMountPointUnusable,
                  error_number == ENOENT
                      ? "mount point " + shown + " does not exist; create the directory first"
                      : "mount point " + shown + ": " + strerror(error_number));
  }
  if (!S_ISDIR(attributes.st_mode)) {
    return refuse(ExitStatus::kMountPointUnusable, "mount point " + shown + " is not a directory");
  }
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(mount_point, error);
  if (error) {
    return refuse(ExitStatus::kMountPointUnusable, "mount point " + shown + ": " + error.message());
  }
  if (std::string mounted = mounted_store(real.string()); !mounted.empty()) {
    return refuse(ExitStatus::kMountPointBusy,
                  "mount point " + shown + " is busy: " + mounted + " is mounted there already");
  }
  if (!store) return real;
  const std::filesystem::path real_store = std::filesystem::weakly_canonical(*store, error);
  if (!error && (is_within(real, real_store) || is_within(real_store, real))) {
    return refuse(ExitStatus::kFailure, "mount point " + shown + " and store " + store->string() +
                                            " must not lie within each other");
  }
  return real;
}

}  // namespace gridmount::fuse
