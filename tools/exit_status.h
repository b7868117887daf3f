// Exit statuses of our programs, so that a script can tell what is wrong without reading messages.
//
// Opening a store fails with the same number in every program that reports the reason by its status
// (gridmount does so with its own table of the same numbers). gridfiles does not: like mongofiles
// it exits with 1 for every failure.
#pragma once

#include "engine/error.h"

namespace gridmount::tools {

enum class ExitStatus : int {
  kOk = 0,
  kFailure = 1,  // wrong usage, or a failure that has no number of its own

  // gridstore check: what it found. A store with both kinds of damage is kStructureDamaged.
  kContentDamaged = 2,    // GridFS: chunks, lengths, md5, folders, missing indexes
  kStructureDamaged = 3,  // the store below it: records, checksums, index entries, catalog

  // Opening a store.
  kStoreNotFound = 10,
  kNotAStore = 11,
  kFormatTooNew = 12,
  kStoreLocked = 13,
  kReadOnly = 14,
  kPermissionDenied = 15,
  kStoreDamaged = 16,
  kOutOfDiskSpace = 17,
  kIoError = 18,
};

// The status for an error of local::open(); kFailure for codes that it does not name.
ExitStatus exit_status_of(const Error& error);

}  // namespace gridmount::tools
