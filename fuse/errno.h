// The one table from ErrorCode to errno, and the errnos that occur in normal operation. Pure
// functions, so thread-safe.
#pragma once

#include "engine/base/error.h"

namespace gridmount::fuse {

// Conditions of the mount itself that no lower layer knows. They are numbers of the open
// enumeration ErrorCode, so that every operation of FileSystem fails with an Error.

// The kernel named a node that is no longer in the table.
inline constexpr ErrorCode kStaleNode{110001};
// The node does not allow the operation, or does not allow it to this user.
inline constexpr ErrorCode kNotPermitted{110002};
inline constexpr ErrorCode kBusy{110003};  // files are open
// Flags, names or nodes that the call does not accept.
inline constexpr ErrorCode kInvalidArgument{110004};
inline constexpr ErrorCode kOutOfMemory{110005};
inline constexpr ErrorCode kNotSupported{110006};
inline constexpr ErrorCode kNoSuchOffset{110007};  // beyond the end, or only holes follow

// Returns the errno for the code, never 0. A code that the table does not list becomes EIO.
int errno_of(ErrorCode code);

// Returns true if the error says that a name, or a file with some _id, does not exist.
bool is_absent(const Error& error);

// Returns true for errors that a correct program may cause at any time (ENOENT, EEXIST, ...). These
// errors are not logged.
bool is_ordinary(int error_number);

}  // namespace gridmount::fuse
