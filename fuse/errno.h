// The one table from ErrorCode to errno, and which errnos are the normal course of things.
#pragma once

#include "engine/base/error.h"

namespace gridmount::fuse {

// Conditions of the mount itself that no layer below knows. They share the enumeration's open range
// so that every operation of FileSystem fails with an Error.
inline constexpr ErrorCode kStaleNode{110001};        // the kernel named a node we have forgotten
inline constexpr ErrorCode kNotPermitted{110002};     // this kind of object cannot do that
inline constexpr ErrorCode kBusy{110003};             // open files stand in the way
inline constexpr ErrorCode kInvalidArgument{110004};  // flags or names the call does not take
inline constexpr ErrorCode kOutOfMemory{110005};
inline constexpr ErrorCode kNotSupported{110006};
inline constexpr ErrorCode kNoSuchOffset{110007};  // beyond the end, or nothing but holes behind it

// Never 0. A code without a line of its own is EIO.
int errno_of(ErrorCode code);

// What was asked for is not there: a name, or a file by its _id.
bool is_absent(const Error& error);

// True for what a correct program may cause at any time (ENOENT, EEXIST, ...): not worth a log
// line.
bool is_ordinary(int error_number);

}  // namespace gridmount::fuse
