// The exit statuses of all programs in one table, so that a script can tell failures apart without
// reading messages. The numbers are part of the commands' interface, and the meaning of a number
// never changes. gridfiles uses only the first two: like mongofiles, it exits with 1 for every
// failure, except for an invalid --verbose (kInvalidVerbosityStatus in tools/gridfiles/options.h).
//
// Thread-safety: a pure function.
#pragma once

#include "engine/base/error.h"

namespace gridmount {

enum class ExitStatus : int {
  kOk = 0,
  kFailure = 1,  // wrong usage, or a failure without a number of its own; see the message

  // What gridstore check found. If it found both kinds of damage, the status is kStructureDamaged.
  kContentDamaged = 2,    // GridFS: chunks, lengths, md5, directories, missing indexes
  kStructureDamaged = 3,  // the store itself: records, checksums, index entries, catalog

  // Opening a store.
  kStoreNotFound = 10,
  kNotAStore = 11,
  kStoreFormatTooNew = 12,
  kStoreLocked = 13,
  kStoreReadOnly = 14,
  kPermissionDenied = 15,
  kStoreDamaged = 16,
  kOutOfDiskSpace = 17,
  kIoError = 18,
  // The folder's file system is not fit for a store: it cannot map files into memory, or a mapping
  // of a file does not show what is written to the file.
  kFileSystemUnfit = 19,

  // gridmount: the mount.
  kMountPointUnusable = 20,  // does not exist or is not a directory
  kMountPointBusy = 21,      // a store is mounted there, or the mount of an ended process is left
  kMountRefused = 22,        // the system refused the mount: no /dev/fuse, not permitted, ...
  kNoSuchBucket = 23,
  // The mount, or the server of `gridstore serve`, worked, but not everything could be made durable
  // at its end.
  kCloseFailed = 24,

  // A MongoDB deployment.
  kServerUnreachable = 25,
};

// Returns the status for an error of opening or reading a store, or kFailure for a code that has no
// status of its own.
ExitStatus exit_status_of(ErrorCode code);

}  // namespace gridmount
