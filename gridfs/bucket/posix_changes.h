// Changes of a node's attributes that concern more than one field, because a mode and an access
// control list overlap.
//
// `now` must have the present fields of the node, and its `mode` must be set. with_xattr() and
// without_xattr() return the fields to change, including ctime. without_xattr() returns no fields
// for an access control list that does not exist.
//
// Functions without state, so thread-safe. with_xattr() and without_xattr() read the clock.
#pragma once

#include <string_view>

#include "gridfs/bucket/files_document.h"
#include "gridfs/bucket/posix_acl.h"

namespace gridmount::gridfs {

// Adds to `changes` what chmod(2) changes, except ctime, which the caller must set. `permissions`
// are the new bits 07777 of the mode.
void add_permissions(const PosixFields& now, uint32_t permissions, PosixFields& changes);

// Returns the mode of a file after a change of its content or owner: without set-user-ID, and
// without set-group-ID if the group may execute the file, or if the process may not keep the bit
// (setattr_should_drop_sgid() of Linux from 6.2 on). The mode of a directory does not change. Calls
// `may_keep_group_id` only if the result depends on it. Null means that the process may keep the
// bit.
uint32_t without_set_id(uint32_t mode, uint32_t group, const GroupCheck& may_keep_group_id);

// Detects a stale write-back of times: the kernel may send a write's times after a call that set
// later times (fuse_flush_times() of Linux takes no lock). The later times must stay. Returns true
// if `changes` has only the mtime and ctime of a write, which are equal, and the mtime of `now` is
// later by less than 2 seconds.
//
// The function does not mistake times that a user sets for the times of a write:
// - If the user's mtime is not the time of the call, the mtime differs from the ctime.
// - If the user's mtime is the time of the call, the mtime in `now` can be later only if it is in
//   the future (later than the ctime in `now`). In that case the function returns false.
bool is_stale_time_writeback(const PosixFields& changes, const PosixFields& now);

// Do what setxattr(2) and removexattr(2) do. Fail with the errors of xattrs.h, and with BadValue
// for an invalid access control list. If a mode can express an access list, with_xattr() does not
// store the list: it changes the mode of the node and removes a stored access list, whatever the
// XattrMode is. The removal of a list that does not exist succeeds.
Result<PosixFields> with_xattr(const PosixFields& now, std::string_view name,
                               std::string_view value, XattrMode mode);
Result<PosixFields> without_xattr(const PosixFields& now, std::string_view name);

// Adds to `made` what a new node inherits from its directory. `made` has the fields of the node,
// and `parent` has the fields of the directory. If the directory has the set-group-ID bit, the node
// gets the directory's group, and a new directory also gets the bit, as inode_init_owner() of Linux
// does. If the directory has a default access control list and `lists` is true, the list restricts
// the mode of the node and becomes its access list, and a new directory also keeps it as its
// default list. Otherwise `umask` removes bits from the mode. The mode of a symbolic link does not
// change. mode, uid and gid of `made` must be set.
void inherit(const PosixFields& parent, uint32_t umask, bool lists, PosixFields& made);

}  // namespace gridmount::gridfs
