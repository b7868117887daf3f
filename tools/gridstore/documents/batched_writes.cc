#include "tools/gridstore/documents/batched_writes.h"

namespace gridmount::tools {

bool ends_everything(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOutOfDiskSpace:
    case ErrorCode::kIoError:
    case ErrorCode::kWritesRefused:
    case ErrorCode::kStoreReadOnly:
    case ErrorCode::kStoreDamaged:
      return true;
    default:
      return false;
  }
}

}  // namespace gridmount::tools
