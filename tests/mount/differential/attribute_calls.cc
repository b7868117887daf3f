// Calls that change or read attributes: modes, owners, times, access, the file system's stats.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>

#include "tests/mount/differential/step.h"

namespace gridmount::differential {

namespace {

Step change_mode(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kAnything);
  const mode_t mode = chance.mode();
  return {.text = call_text("chmod", shown(path), octal(mode)),
          .actor = chance.actor(),
          .run = [=](Side&) { return outcome_of(::chmod(path.c_str(), mode)); },
          .paths = {path}};
}

Step change_mode_of_handle(Chance& chance, const Side& model) {
  const size_t slot = chance.open_handle(model);
  const mode_t mode = chance.mode();
  return {.text = call_text("fchmod", slot, octal(mode)),
          .actor = chance.actor(),
          .run = [=](Side& side) { return outcome_of(::fchmod(side.handle(slot).fd, mode)); },
          .handles = {slot}};
}

struct Owner {
  uid_t uid;
  gid_t gid;
};

// At least one of the two is given. Without either, the kernel's FUSE does not report that set-id
// bits must be cleared.
Owner some_owner(Chance& chance) {
  const Owner owner{chance.id(), chance.id()};
  switch (chance.below(4)) {
    case 0:
      return {owner.uid, static_cast<gid_t>(-1)};
    case 1:
      return {static_cast<uid_t>(-1), owner.gid};
    default:
      return owner;
  }
}

Step change_owner(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kAnything);
  const Owner owner = some_owner(chance);
  const int flags = chance.one_in(2) ? AT_SYMLINK_NOFOLLOW : 0;
  return {.text = call_text(flags != 0 ? "lchown" : "chown", shown(path),
                            static_cast<int>(owner.uid), static_cast<int>(owner.gid)),
          .actor = chance.actor(),
          .run =
              [=](Side&) {
                return outcome_of(::fchownat(AT_FDCWD, path.c_str(), owner.uid, owner.gid, flags));
              },
          .paths = {path}};
}

Step change_owner_of_handle(Chance& chance, const Side& model) {
  const size_t slot = chance.open_handle(model);
  const Owner owner = some_owner(chance);
  return {
      .text = call_text("fchown", slot, static_cast<int>(owner.uid), static_cast<int>(owner.gid)),
      .actor = chance.actor(),
      .run =
          [=](Side& side) {
            return outcome_of(::fchown(side.handle(slot).fd, owner.uid, owner.gid));
          },
      .handles = {slot}};
}

// --- Times.

using Times = std::array<timespec, 2>;

timespec some_time(Chance& chance) {
  switch (chance.below(8)) {
    case 0:
      return {0, UTIME_NOW};
    case 1:
      return {0, UTIME_OMIT};
    case 2:
      return {0, chance.pick<long>({1'000'000'000, -1, 0})};
    default:
      return chance.distant_time();
  }
}

std::string time_text(timespec time) {
  if (time.tv_nsec == UTIME_NOW) return "UTIME_NOW";
  if (time.tv_nsec == UTIME_OMIT) return "UTIME_OMIT";
  return std::to_string(time.tv_sec) + "s+" + std::to_string(time.tv_nsec);
}

// For atime only the requested value is compared, because other causes of a change depend on the
// file system. Links are left out: the path to one may lead through another name of it, which reads
// it.
std::string access_time_set(const Times& times, const struct stat& now) {
  if (S_ISLNK(now.st_mode)) return {};
  if (times[0].tv_nsec == UTIME_NOW || times[0].tv_nsec == UTIME_OMIT) return {};
  return "atime " + time_text(now.st_atim);
}

Step change_times(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kAnything);
  const Times times = {some_time(chance), some_time(chance)};
  const int flags = chance.one_in(2) ? AT_SYMLINK_NOFOLLOW : 0;
  return {.text = call_text("utimensat", shown(path), time_text(times[0]), time_text(times[1]),
                            flags_text(flags, {{AT_SYMLINK_NOFOLLOW, "AT_SYMLINK_NOFOLLOW"}})),
          .actor = chance.actor(),
          .run =
              [=](Side&) {
                const Outcome outcome =
                    outcome_of(::utimensat(AT_FDCWD, path.c_str(), times.data(), flags));
                struct stat now {};
                if (outcome.error != 0 || ::fstatat(AT_FDCWD, path.c_str(), &now, flags) != 0) {
                  return outcome;
                }
                return outcome_of(0, access_time_set(times, now));
              },
          .paths = {path}};
}

Step change_times_of_handle(Chance& chance, const Side& model) {
  const size_t slot = chance.open_handle(model);
  const Times times = {some_time(chance), some_time(chance)};
  return {.text = call_text("futimens", slot, time_text(times[0]), time_text(times[1])),
          .actor = chance.actor(),
          .run =
              [=](Side& side) {
                const int fd = side.handle(slot).fd;
                const Outcome outcome = outcome_of(::futimens(fd, times.data()));
                struct stat now {};
                if (outcome.error != 0 || ::fstat(fd, &now) != 0) return outcome;
                return outcome_of(0, access_time_set(times, now));
              },
          .handles = {slot}};
}

// --- Reading. Results are compared as for every step that names a path or a handle.

Step look(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kAnything);
  const int flags = chance.one_in(2) ? AT_SYMLINK_NOFOLLOW : 0;
  return {.text = call_text(flags != 0 ? "lstat" : "stat", shown(path)),
          .actor = chance.actor(),
          .run =
              [=](Side&) {
                struct stat found {};
                return outcome_of(::fstatat(AT_FDCWD, path.c_str(), &found, flags));
              },
          .paths = {path}};
}

Step look_at_handle(Chance& chance, const Side& model) {
  const size_t slot = chance.open_handle(model);
  return {.text = call_text("fstat", slot),
          .actor = {},
          .run =
              [=](Side& side) {
                struct stat found {};
                return outcome_of(::fstat(side.handle(slot).fd, &found));
              },
          .handles = {slot}};
}

Step access(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kAnything);
  const int wanted = chance.some_of({R_OK, W_OK, X_OK}, 2);
  const int flags = AT_EACCESS | chance.some_of({AT_SYMLINK_NOFOLLOW}, 3);
  return {
      .text = call_text("faccessat", shown(path), wanted, flags),
      .actor = chance.actor(),
      .run = [=](Side&) { return outcome_of(::faccessat(AT_FDCWD, path.c_str(), wanted, flags)); },
      .paths = {path}};
}

Step figures(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kAnything);
  return {.text = call_text("statvfs", shown(path)), .actor = {}, .run = [=](Side&) {
            struct statvfs found {};
            const Outcome outcome = outcome_of(::statvfs(path.c_str(), &found));
            if (outcome.error != 0) return outcome;
            if (found.f_bavail > found.f_bfree || found.f_bfree > found.f_blocks ||
                found.f_frsize == 0 || found.f_ffree > found.f_files) {
              return broken_rule("more is free than there is");
            }
            return outcome_of(static_cast<int64_t>(found.f_namemax));
          }};
}

}  // namespace

void add_attribute_calls(std::vector<CallKind>& kinds) {
  kinds.insert(kinds.end(), {{"mode", 20, change_mode},
                             {"mode", 6, change_mode_of_handle},
                             {"owner", 15, change_owner},
                             {"owner", 5, change_owner_of_handle},
                             {"times", 15, change_times},
                             {"times", 8, change_times_of_handle},
                             {"stat", 20, look},
                             {"stat", 10, look_at_handle},
                             {"access", 20, access},
                             {"statfs", 2, figures}});
}

}  // namespace gridmount::differential
