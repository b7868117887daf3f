#include "engine/system/system_error.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace gridmount::system {
namespace {

struct Meaning {
  int error_number;
  ErrorCode error;
  const char* explanation;
};

constexpr Meaning kMeanings[] = {
    {kNotRegular, ErrorCode::kStoreDamaged,
     "it is not a regular file; put the right file back, or restore the store from a backup"},
    {ENOSPC, ErrorCode::kOutOfDiskSpace, "the disk is full; free some space and try again"},
    {EDQUOT, ErrorCode::kOutOfDiskSpace,
     "the disk quota is used up; free some space and try again"},
    {EFBIG, ErrorCode::kOutOfDiskSpace,
     "the file would exceed the limit of the file system or of the process (see ulimit -f)"},
    {EIO, ErrorCode::kIoError, "the device reported an input/output error"},
    {EACCES, ErrorCode::kPermissionDenied, "permission denied"},
    {EPERM, ErrorCode::kPermissionDenied, "operation not permitted"},
    {EROFS, ErrorCode::kStoreReadOnly, "the file system is mounted read-only"},
    {ENOMEM, ErrorCode::kOperationFailed,
     "out of memory or address space (see ulimit -v, vm.overcommit_memory)"},
    {EMFILE, ErrorCode::kOperationFailed, "too many open files (see ulimit -n)"},
    {ENFILE, ErrorCode::kOperationFailed, "too many open files in the system"},
};

}  // namespace

Error system_error(int error_number, std::string_view what) {
  const std::string message = std::string(what) + ": ";
  for (const Meaning& meaning : kMeanings) {
    if (meaning.error_number == error_number) {
      return Error(meaning.error, message + meaning.explanation);
    }
  }
  return Error(ErrorCode::kOperationFailed,
               message + std::generic_category().message(error_number));
}

}  // namespace gridmount::system
