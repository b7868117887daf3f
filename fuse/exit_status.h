// What gridmount's exit status says. The numbers are part of the command's interface: scripts test
// them, so a number is never given a new meaning.
#pragma once

#include <string>

#include "engine/error.h"

namespace gridmount::fuse {

enum class ExitStatus : int {
  kOk = 0,
  kFailure = 1,  // wrong use, or what this table has no line for; the message says what
  // The store. The same in all programs of the project.
  kStoreNotFound = 10,
  kNotAStore = 11,
  kStoreFormatTooNew = 12,
  kStoreLocked = 13,
  kStoreReadOnly = 14,
  kPermissionDenied = 15,
  kStoreDamaged = 16,
  kOutOfDiskSpace = 17,
  kIoError = 18,
  // The mount.
  kMountPointUnusable = 20,  // does not exist or is not a folder
  kMountPointBusy = 21,      // a store is mounted there already, or a dead mount is left over
  kMountRefused = 22,        // the system refused the mount: no /dev/fuse, not allowed, ...
  kNoSuchBucket = 23,
  kCloseFailed = 24,  // the mount worked, but not everything could be made durable at its end
};

// For an error of opening a store.
ExitStatus exit_status_of(ErrorCode code);

// The table, one line per status, for --help.
std::string exit_status_table();

}  // namespace gridmount::fuse
