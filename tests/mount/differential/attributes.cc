#include "tests/mount/differential/attributes.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gridmount::differential {

namespace {

constexpr double kTwoTicks = 0.025;  // seconds, for clocks of 100 Hz and more
constexpr double kAlike = 20;        // seconds
// A time in this range counts as "now"; see Chance::distant_time.
constexpr time_t kNowBegins = 1'600'000'000;
constexpr time_t kNowEnds = 2'147'000'000;

double seconds_between(timespec from, timespec to) {
  return static_cast<double>(to.tv_sec - from.tv_sec) +
         static_cast<double>(to.tv_nsec - from.tv_nsec) / 1e9;
}

bool is_same(timespec a, timespec b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool is_alike(timespec a, timespec b) {
  if (is_now(a) && is_now(b)) return std::abs(seconds_between(a, b)) < kAlike;
  return is_same(a, b);
}

std::string text(timespec time) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%lld.%09ld", static_cast<long long>(time.tv_sec),
                time.tv_nsec);
  return text.data();
}

void see(std::vector<Sight>& sights, std::string subject, const std::string& path, int flags) {
  Sight sight{.subject = std::move(subject)};
  if (::fstatat(AT_FDCWD, path.c_str(), &sight.attributes, flags) != 0) sight.error = errno;
  sights.push_back(std::move(sight));
}

std::string folder_of(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Returns a message if a time changed on one side only. Compares only times that both sides had set
// more than kTwoTicks before `moment`.
std::string one_sided_change(const char* what, timespec moment, timespec mount_before,
                             timespec mount_after, timespec plain_before, timespec plain_after) {
  if (std::abs(seconds_between(mount_before, moment)) < kTwoTicks ||
      std::abs(seconds_between(plain_before, moment)) < kTwoTicks) {
    return {};
  }
  const bool mount_changed = !is_same(mount_before, mount_after);
  if (mount_changed == !is_same(plain_before, plain_after)) return {};
  return std::string(what) +
         (mount_changed ? " changed on the mount only: " : " changed on the plain side only: ") +
         text(mount_before) + " -> " + text(mount_after) + ", " + text(plain_before) + " -> " +
         text(plain_after);
}

std::string changes(const Sight& mount_before, const Sight& mount_after, const Sight& plain_before,
                    const Sight& plain_after, timespec moment) {
  // An object that did not exist before, or is another one now, has new times anyway.
  if (mount_before.error != 0 || plain_before.error != 0 ||
      S_ISFIFO(mount_after.attributes.st_mode) ||
      mount_before.attributes.st_ino != mount_after.attributes.st_ino ||
      plain_before.attributes.st_ino != plain_after.attributes.st_ino) {
    return {};
  }
  const std::string of_content = one_sided_change(
      "mtime", moment, mount_before.attributes.st_mtim, mount_after.attributes.st_mtim,
      plain_before.attributes.st_mtim, plain_after.attributes.st_mtim);
  if (!of_content.empty()) return of_content;
  return one_sided_change("ctime", moment, mount_before.attributes.st_ctim,
                          mount_after.attributes.st_ctim, plain_before.attributes.st_ctim,
                          plain_after.attributes.st_ctim);
}

}  // namespace

bool is_now(timespec time) {
  return time.tv_sec >= kNowBegins && time.tv_sec < kNowEnds;
}

std::string text(const struct stat& attributes) {
  std::array<char, 256> text{};
  std::snprintf(
      text.data(), text.size(),
      "mode %o, %u:%u, %lu links, %lld bytes, device %lx, mtime %lld.%09ld", attributes.st_mode,
      attributes.st_uid, attributes.st_gid, static_cast<unsigned long>(attributes.st_nlink),
      static_cast<long long>(attributes.st_size), static_cast<unsigned long>(attributes.st_rdev),
      static_cast<long long>(attributes.st_mtim.tv_sec), attributes.st_mtim.tv_nsec);
  return text.data();
}

std::string difference(const struct stat& mount, const struct stat& plain) {
  bool same = mount.st_mode == plain.st_mode && mount.st_uid == plain.st_uid &&
              mount.st_gid == plain.st_gid && mount.st_rdev == plain.st_rdev;
  if (!S_ISFIFO(mount.st_mode)) same = same && is_alike(mount.st_mtim, plain.st_mtim);
  if (!S_ISDIR(mount.st_mode)) {
    same = same && mount.st_size == plain.st_size && mount.st_nlink == plain.st_nlink;
  } else if (mount.st_nlink != 1 && plain.st_nlink != 1) {
    same = same && mount.st_nlink == plain.st_nlink;
  }
  return same ? std::string() : text(mount) + "; plain: " + text(plain);
}

std::vector<Sight> look_around(const Step& step, const Side& side) {
  std::vector<Sight> sights;
  for (const std::string& path : step.paths) {
    see(sights, shown(path), path, AT_SYMLINK_NOFOLLOW);
    see(sights, "what " + shown(path) + " leads to", path, 0);
    const std::string folder = folder_of(path);
    see(sights, "folder " + shown(folder), folder, 0);
  }
  for (const size_t slot : step.handles) {
    Sight sight{.subject = "handle " + std::to_string(slot)};
    if (::fstat(side.handle(slot).fd, &sight.attributes) != 0) sight.error = errno;
    sights.push_back(std::move(sight));
  }
  return sights;
}

std::string difference(const BeforeAndAfter& mount, const BeforeAndAfter& plain, timespec moment,
                       bool times_are_settled) {
  for (size_t i = 0; i < mount.after.size(); ++i) {
    const Sight& ours = mount.after[i];
    const Sight& theirs = plain.after[i];
    std::string differs;
    if (ours.error != theirs.error) {
      differs = std::string(std::strerror(ours.error)) + "; plain: " + std::strerror(theirs.error);
    } else if (ours.error == 0) {
      differs = difference(ours.attributes, theirs.attributes);
    }
    if (differs.empty() && ours.error == 0 && times_are_settled) {
      differs = changes(mount.before[i], ours, plain.before[i], theirs, moment);
    }
    if (!differs.empty()) return ours.subject + ": " + differs;
  }
  return {};
}

}  // namespace gridmount::differential
