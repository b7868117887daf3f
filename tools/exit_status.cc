#include "tools/exit_status.h"

namespace gridmount::tools {

ExitStatus exit_status_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kStoreNotFound:
      return ExitStatus::kStoreNotFound;
    case ErrorCode::kNotAStore:
      return ExitStatus::kNotAStore;
    case ErrorCode::kStoreFormatTooNew:
      return ExitStatus::kFormatTooNew;
    case ErrorCode::kStoreLocked:
      return ExitStatus::kStoreLocked;
    case ErrorCode::kStoreReadOnly:
      return ExitStatus::kReadOnly;
    case ErrorCode::kPermissionDenied:
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
      return ExitStatus::kFailure;
  }
}

}  // namespace gridmount::tools
