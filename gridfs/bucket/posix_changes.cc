#include "gridfs/bucket/posix_changes.h"

#include <sys/stat.h>

#include "gridfs/bucket/file_time.h"

namespace gridmount::gridfs {
namespace {

constexpr uint32_t kPermissionBits = 07777;
constexpr uint32_t kAclBits = 0777;

std::optional<PosixAcl> list_of(const std::optional<Xattrs>& xattrs, std::string_view name) {
  if (!xattrs) return std::nullopt;
  const std::optional<std::string_view> found = xattrs->find(name);
  if (!found) return std::nullopt;
  // Somebody else may have written an invalid list. Then only the mode counts.
  Result<PosixAcl> acl = PosixAcl::parse(*found);
  if (!acl) return std::nullopt;
  return *std::move(acl);
}

PosixFields changed_now() {
  PosixFields changes;
  changes.ctime = file_time_now();
  return changes;
}

}  // namespace

bool is_stale_time_writeback(const PosixFields& changes, const PosixFields& now) {
  // If `now` is later by more than this, the clock was set back.
  constexpr int64_t kMomentsNs = 2'000'000'000;
  constexpr int64_t kSecondNs = 1'000'000'000;
  if (!changes.mtime || !changes.ctime || !now.mtime || !now.ctime) return false;
  if (changes.mode || changes.uid || changes.gid || changes.atime || changes.rdev ||
      changes.symlink_target || changes.xattrs) {
    return false;
  }
  const timespec& time = *changes.mtime;
  if (time.tv_sec != changes.ctime->tv_sec || time.tv_nsec != changes.ctime->tv_nsec) return false;
  const bool is_of_the_future =
      now.mtime->tv_sec > now.ctime->tv_sec ||
      (now.mtime->tv_sec == now.ctime->tv_sec && now.mtime->tv_nsec > now.ctime->tv_nsec);
  if (is_of_the_future) return false;
  const int64_t seconds = now.mtime->tv_sec - time.tv_sec;
  if (seconds < 0 || seconds > kMomentsNs / kSecondNs) return false;
  const int64_t later_ns = seconds * kSecondNs + now.mtime->tv_nsec - time.tv_nsec;
  return later_ns > 0 && later_ns < kMomentsNs;
}

uint32_t without_set_id(uint32_t mode, uint32_t group, const GroupCheck& may_keep_group_id) {
  if (S_ISDIR(mode)) return mode;
  mode &= ~static_cast<uint32_t>(S_ISUID);
  if ((mode & S_ISGID) == 0) return mode;
  const bool stays =
      (mode & S_IXGRP) == 0 && (may_keep_group_id == nullptr || may_keep_group_id(group));
  return stays ? mode : mode & ~static_cast<uint32_t>(S_ISGID);
}

void add_permissions(const PosixFields& now, uint32_t permissions, PosixFields& changes) {
  changes.mode = (*now.mode & ~kPermissionBits) | (permissions & kPermissionBits);
  std::optional<PosixAcl> acl = list_of(now.xattrs, kAccessAcl);
  if (!acl) return;
  acl->set_mode_bits(permissions);
  changes.xattrs = now.xattrs;
  changes.xattrs->set(kAccessAcl, acl->bytes());
}

Result<PosixFields> with_xattr(const PosixFields& now, std::string_view name,
                               std::string_view value, XattrMode mode) {
  PosixFields changes = changed_now();
  changes.xattrs = now.xattrs.value_or(Xattrs());
  if (name == kAccessAcl || name == kDefaultAcl) {
    GM_ASSIGN(const PosixAcl acl, PosixAcl::parse(value));
    if (name == kAccessAcl) {
      changes.mode = (*now.mode & ~kAclBits) | acl.mode_bits();
      if (acl.is_minimal()) {
        changes.xattrs->erase(name);
        return changes;
      }
    }
  }
  GM_TRY(set_xattr(*changes.xattrs, name, value, mode));
  return changes;
}

Result<PosixFields> without_xattr(const PosixFields& now, std::string_view name) {
  PosixFields changes = changed_now();
  changes.xattrs = now.xattrs.value_or(Xattrs());
  // As in other file systems, removing a list that does not exist succeeds.
  const bool is_list = name == kAccessAcl || name == kDefaultAcl;
  if (is_list && !changes.xattrs->contains(name)) return PosixFields();
  GM_TRY(remove_xattr(*changes.xattrs, name));
  return changes;
}

void inherit(const PosixFields& parent, uint32_t umask, bool lists, PosixFields& made) {
  const bool is_directory = S_ISDIR(*made.mode);
  if ((parent.mode.value_or(0) & S_ISGID) != 0) {
    made.gid = parent.gid;
    if (is_directory) *made.mode |= S_ISGID;
  }
  if (S_ISLNK(*made.mode)) return;
  const std::optional<PosixAcl> inherited = list_of(parent.xattrs, kDefaultAcl);
  if (!inherited || !lists) {
    *made.mode &= ~(umask & kAclBits);
    return;
  }
  Xattrs xattrs;
  PosixAcl acl = *inherited;
  acl.restrict_to(*made.mode);
  *made.mode = (*made.mode & ~kAclBits) | acl.mode_bits();
  if (!acl.is_minimal()) xattrs.set(kAccessAcl, acl.bytes());
  if (is_directory) xattrs.set(kDefaultAcl, inherited->bytes());
  if (!xattrs.empty()) made.xattrs = std::move(xattrs);
}

}  // namespace gridmount::gridfs
