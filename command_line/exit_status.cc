#include "command_line/exit_status.h"

#include "engine/base/opening_error.h"

namespace gridmount {

ExitStatus exit_status_of(ErrorCode code) {
  if (code == kFileSystemUnfit) return ExitStatus::kFileSystemUnfit;
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
    case ErrorCode::kAuthenticationFailed:
      return ExitStatus::kPermissionDenied;
    case ErrorCode::kStoreDamaged:
    case ErrorCode::kDataCorruptionDetected:
      return ExitStatus::kStoreDamaged;
    case ErrorCode::kOutOfDiskSpace:
      return ExitStatus::kOutOfDiskSpace;
    case ErrorCode::kIoError:
    case ErrorCode::kWritesRefused:
      return ExitStatus::kIoError;
    case ErrorCode::kHostUnreachable:
      return ExitStatus::kServerUnreachable;
    default:
      return ExitStatus::kFailure;
  }
}

}  // namespace gridmount
