// Changes of a node's attributes that concern more than one of its fields: a mode and an access
// control list say partly the same.
//
// In `now`, which is what the node has, `mode` must be set. What is returned is what changes, ctime
// included where the system call changes it.
//
// Thread-safety: pure functions, but for the time.
#pragma once

#include <string_view>

#include "gridfs/bucket/files_document.h"
#include "gridfs/bucket/posix_acl.h"

namespace gridmount::gridfs {

// chmod(2): `permissions` are the bits 07777. Adds to `changes`, whose ctime the caller sets.
void add_permissions(const PosixFields& now, uint32_t permissions, PosixFields& changes);

// The mode of a file whose content or owner changes: no set-user-ID, and no set-group-ID where the
// group may execute the file, or where who changes it may not keep that (setattr_should_drop_sgid()
// of Linux from 6.2 on). A folder's stays. Asked only where it matters; null: it may be kept.
uint32_t without_set_id(uint32_t mode, uint32_t group, const GroupCheck& may_keep_group_id);

// Whether `changes` are the time of a last write and nothing else, and `now` is moments later: the
// kernel writes such times back beside a call that sets later ones (fuse_flush_times() of Linux
// takes no lock), and keeps the later ones. A user's own times are not taken for that: either what
// they set as mtime is not the ctime, or it is the time of the call, and only an mtime of the
// future is later than that.
bool are_times_of_before(const PosixFields& changes, const PosixFields& now);

// setxattr(2) and removexattr(2). Errors: xattrs.h; BadValue for a list that is none.
Result<PosixFields> with_xattr(const PosixFields& now, std::string_view name,
                               std::string_view value, XattrMode mode);
Result<PosixFields> without_xattr(const PosixFields& now, std::string_view name);

// What a new node gets of the folder it is made in, whose fields are `parent`: its group with the
// set-group-ID bit, as inode_init_owner() of Linux does; its default list, if it has one and
// `lists` count, or else `umask`. In `made` mode, uid and gid are set.
void inherit(const PosixFields& parent, uint32_t umask, bool lists, PosixFields& made);

}  // namespace gridmount::gridfs
