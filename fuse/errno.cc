#include "fuse/errno.h"

#include <cerrno>

#include "gridfs/bucket/error.h"

namespace gridmount::fuse {

int errno_of(ErrorCode code) {
  switch (static_cast<int32_t>(code)) {
    // The path namespace.
    case static_cast<int32_t>(gridfs::kNoSuchEntry):
    case static_cast<int32_t>(gridfs::kFileNotFound):
    case static_cast<int32_t>(gridfs::kRevisionNotFound):
    case static_cast<int32_t>(ErrorCode::kNamespaceNotFound):
      return ENOENT;
    case static_cast<int32_t>(gridfs::kEntryExists):
    case static_cast<int32_t>(ErrorCode::kNamespaceExists):
    case static_cast<int32_t>(ErrorCode::kDuplicateKey):
      return EEXIST;
    case static_cast<int32_t>(gridfs::kNotADirectory):
      return ENOTDIR;
    case static_cast<int32_t>(gridfs::kIsADirectory):
      return EISDIR;
    case static_cast<int32_t>(gridfs::kDirectoryNotEmpty):
    case static_cast<int32_t>(gridfs::kBucketNotEmpty):
      return ENOTEMPTY;
    case static_cast<int32_t>(gridfs::kNameTooLong):
      return ENAMETOOLONG;
    case static_cast<int32_t>(gridfs::kInvalidName):
    case static_cast<int32_t>(gridfs::kMoveIntoItself):
    case static_cast<int32_t>(gridfs::kInvalidRange):
    case static_cast<int32_t>(ErrorCode::kInvalidNamespace):
    case static_cast<int32_t>(ErrorCode::kBadValue):
    case static_cast<int32_t>(ErrorCode::kFailedToParse):
    case static_cast<int32_t>(kInvalidArgument):
      return EINVAL;
    case static_cast<int32_t>(gridfs::kCrossBucket):
      return EXDEV;
    case static_cast<int32_t>(gridfs::kFileTooLarge):
      return EFBIG;
    case static_cast<int32_t>(gridfs::kTooManyLinks):
      return EMLINK;
    case static_cast<int32_t>(gridfs::kNoSuchXattr):
      return ENODATA;
    case static_cast<int32_t>(gridfs::kNoRoomForXattrs):
      return ENOSPC;

    // The mount.
    case static_cast<int32_t>(gridfs::kFileDeleted):
    case static_cast<int32_t>(gridfs::kFileChanged):
    case static_cast<int32_t>(kStaleNode):
      return ESTALE;
    case static_cast<int32_t>(kNotPermitted):
    case static_cast<int32_t>(gridfs::kFieldNotWritable):
      return EPERM;
    case static_cast<int32_t>(kBusy):
      return EBUSY;
    case static_cast<int32_t>(kNotSupported):
      return EOPNOTSUPP;
    case static_cast<int32_t>(kNoSuchOffset):
      return ENXIO;
    case static_cast<int32_t>(kOutOfMemory):
      return ENOMEM;

    // The store.
    case static_cast<int32_t>(ErrorCode::kOutOfDiskSpace):
      return ENOSPC;
    case static_cast<int32_t>(ErrorCode::kStoreReadOnly):
      return EROFS;
    case static_cast<int32_t>(ErrorCode::kPermissionDenied):
    case static_cast<int32_t>(ErrorCode::kUnauthorized):
      return EACCES;
    case static_cast<int32_t>(ErrorCode::kTransactionTooLarge):
    case static_cast<int32_t>(ErrorCode::kBsonObjectTooLarge):
    case static_cast<int32_t>(ErrorCode::kUpdatedDocumentTooLarge):
    case static_cast<int32_t>(ErrorCode::kUpsertedDocumentTooLarge):
      return E2BIG;
    case static_cast<int32_t>(ErrorCode::kInterrupted):
      return EINTR;

    // Damage (missing and wrong chunks, wrong checksums, invalid documents), failed devices, and
    // everything that should not happen.
    default:
      return EIO;
  }
}

bool is_absent(const Error& error) {
  return error.code() == gridfs::kFileNotFound || error.code() == gridfs::kNoSuchEntry;
}

bool is_ordinary(int error_number) {
  switch (error_number) {
    case ENOENT:
    case EEXIST:
    case ENOTDIR:
    case EISDIR:
    case EMLINK:
    case ENOTEMPTY:
    case ENAMETOOLONG:
    case EINVAL:
    case ENODATA:
    case ENXIO:
    case EOPNOTSUPP:
    case EXDEV:
    case EFBIG:
    case EPERM:
    case EACCES:
    case EBUSY:
    case EROFS:
    case EINTR:
      return true;
    default:
      return false;
  }
}

}  // namespace gridmount::fuse
