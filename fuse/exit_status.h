// What gridmount's exit status says. The numbers are part of the command's interface: scripts test
// them, so a number is never given a new meaning.
#pragma once

#include <string>

#include "engine/error.h"

namespace gridmount::fuse {

enum class ExitStatus : int {
  kOk = 0,
  kFailure = 1,             // something this table has no line for; the message says what
  kUsage = 2,               // an unknown option, a bad value, a missing argument
  kMountPointUnusable = 3,  // does not exist or is not a folder
  kMountPointBusy = 4,      // a store is mounted there already, or a dead mount is left over
  kStoreNotFound = 5,
  kNotAStore = 6,
  kStoreFormatTooNew = 7,
  kStoreLocked = 8,
  kStoreReadOnly = 9,
  kPermissionDenied = 10,
  kStoreDamaged = 11,
  kOutOfDiskSpace = 12,
  kIoError = 13,
  kNoSuchBucket = 14,
  kMountRefused = 15,  // the system refused the mount: no /dev/fuse, not allowed, ...
  kCloseFailed = 16,   // the mount worked, but not everything could be made durable at its end
};

// For an error of opening a store.
ExitStatus exit_status_of(ErrorCode code);

// The table, one line per status, for --help.
std::string exit_status_table();

}  // namespace gridmount::fuse
