#include "fuse/exit_status.h"

#include <array>
#include <utility>

#include "gridfs/error.h"

namespace gridmount::fuse {

ExitStatus exit_status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kStoreNotFound:
      return ExitStatus::kStoreNotFound;
    case ErrorCode::kNotAStore:
      return ExitStatus::kNotAStore;
    case ErrorCode::kStoreFormatTooNew:
      return ExitStatus::kStoreFormatTooNew;
    case ErrorCode::kStoreLocked:
    case ErrorCode::kDbPathInUse:
      return ExitStatus::kStoreLocked;
    case ErrorCode::kStoreReadOnly:
      return ExitStatus::kStoreReadOnly;
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnauthorized:
      return ExitStatus::kPermissionDenied;
    case ErrorCode::kStoreDamaged:
    case ErrorCode::kDataCorruptionDetected:
      return ExitStatus::kStoreDamaged;
    case ErrorCode::kOutOfDiskSpace:
      return ExitStatus::kOutOfDiskSpace;
    case ErrorCode::kIoError:
    case ErrorCode::kWritesRefused:
      return ExitStatus::kIoError;
    default:
      return code == gridfs::kNoSuchEntry ? ExitStatus::kNoSuchBucket : ExitStatus::kFailure;
  }
}

std::string exit_status_table() {
  static constexpr std::array<std::pair<ExitStatus, const char*>, 16> kLines{{
      {ExitStatus::kOk, "mounted (in the background), or unmounted cleanly (-f)"},
      {ExitStatus::kFailure, "wrong use, or another failure; the message says which"},
      {ExitStatus::kStoreNotFound, "there is no store at STORE (--create makes one)"},
      {ExitStatus::kNotAStore, "STORE is something else"},
      {ExitStatus::kStoreFormatTooNew, "the store was written by a newer version"},
      {ExitStatus::kStoreLocked, "another process owns the store; the message names it"},
      {ExitStatus::kStoreReadOnly, "the store is on a read-only medium (-o ro mounts it)"},
      {ExitStatus::kPermissionDenied, "no permission for the store or the mount point"},
      {ExitStatus::kStoreDamaged, "the store's files are damaged"},
      {ExitStatus::kOutOfDiskSpace, "the disk is full"},
      {ExitStatus::kIoError, "the disk reported an error"},
      {ExitStatus::kMountPointUnusable, "the mount point does not exist or is not a folder"},
      {ExitStatus::kMountPointBusy, "the mount point is a gridmount already, or a dead mount"},
      {ExitStatus::kMountRefused, "the system refused the mount"},
      {ExitStatus::kNoSuchBucket, "the store has no bucket of the name given with -o bucket="},
      {ExitStatus::kCloseFailed, "at the end not everything could be written (-f)"},
  }};
  std::string table;
  for (const auto& [status, meaning] : kLines) {
    std::string number = std::to_string(static_cast<int>(status));
    table += "  " + std::string(2 - number.size(), ' ') + number + "  " + meaning + "\n";
  }
  return table;
}

}  // namespace gridmount::fuse
