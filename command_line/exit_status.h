// Exit statuses of the programs, one table for all, so that a script can tell what is wrong without
// reading messages. The numbers are part of the commands' interface: a number is never given a new
// meaning. gridfiles uses the first two alone: like mongofiles it exits with 1 for every failure.
#pragma once

#include "engine/base/error.h"

namespace gridmount {

enum class ExitStatus : int {
  kOk = 0,
  kFailure = 1,  // wrong use, or what this table has no line for; the message says what

  // gridstore check: what it found. A store with both kinds of damage is kStructureDamaged.
  kContentDamaged = 2,    // GridFS: chunks, lengths, md5, folders, missing indexes
  kStructureDamaged = 3,  // the store below it: records, checksums, index entries, catalog

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
  kFileSystemUnfit = 19,  // its mappings do not show what is written, so that it carries no store

  // gridmount: the mount.
  kMountPointUnusable = 20,  // does not exist or is not a folder
  kMountPointBusy = 21,      // a store is mounted there already, or a dead mount is left over
  kMountRefused = 22,        // the system refused the mount: no /dev/fuse, not allowed, ...
  kNoSuchBucket = 23,
  kCloseFailed = 24,  // the mount worked, but not everything could be made durable at its end
};

// For an error of opening or reading a store; kFailure for codes that have no number of their own.
ExitStatus exit_status_of(ErrorCode code);

}  // namespace gridmount
