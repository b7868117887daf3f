// Goal: programs on the mount get the errno that POSIX names for a condition.
#include "fuse/errno.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "command_line/exit_status.h"
#include "engine/base/opening_error.h"
#include "gridfs/bucket/error.h"

namespace gridmount::fuse {
namespace {

TEST(Errno, NamespaceConditions) {
  EXPECT_EQ(errno_of(gridfs::kNoSuchEntry), ENOENT);
  EXPECT_EQ(errno_of(gridfs::kFileNotFound), ENOENT);
  EXPECT_EQ(errno_of(gridfs::kEntryExists), EEXIST);
  EXPECT_EQ(errno_of(gridfs::kNotADirectory), ENOTDIR);
  EXPECT_EQ(errno_of(gridfs::kIsADirectory), EISDIR);
  EXPECT_EQ(errno_of(gridfs::kDirectoryNotEmpty), ENOTEMPTY);
  EXPECT_EQ(errno_of(gridfs::kBucketNotEmpty), ENOTEMPTY);
  EXPECT_EQ(errno_of(gridfs::kNameTooLong), ENAMETOOLONG);
  EXPECT_EQ(errno_of(gridfs::kInvalidName), EINVAL);
  EXPECT_EQ(errno_of(gridfs::kMoveIntoItself), EINVAL);
  EXPECT_EQ(errno_of(gridfs::kCrossBucket), EXDEV);
  EXPECT_EQ(errno_of(gridfs::kFileTooLarge), EFBIG);
}

TEST(Errno, StoreConditions) {
  EXPECT_EQ(errno_of(ErrorCode::kOutOfDiskSpace), ENOSPC);
  EXPECT_EQ(errno_of(ErrorCode::kStoreReadOnly), EROFS);
  EXPECT_EQ(errno_of(ErrorCode::kPermissionDenied), EACCES);
  EXPECT_EQ(errno_of(ErrorCode::kWritesRefused), EIO);
  EXPECT_EQ(errno_of(ErrorCode::kDataCorruptionDetected), EIO);
  EXPECT_EQ(errno_of(gridfs::kChunkIsMissing), EIO);
  EXPECT_EQ(errno_of(gridfs::kChunkIsWrongSize), EIO);
}

TEST(Errno, MountConditions) {
  EXPECT_EQ(errno_of(kStaleNode), ESTALE);
  EXPECT_EQ(errno_of(kNotPermitted), EPERM);
  EXPECT_EQ(errno_of(kBusy), EBUSY);
}

TEST(Errno, UnknownCode_IsInputOutputError) {
  EXPECT_EQ(errno_of(ErrorCode{987654}), EIO);
}

TEST(Errno, DamageAndFullDisks_AreNotOrdinary) {
  for (int error_number : {EIO, ENOSPC, ESTALE, ENOMEM}) EXPECT_FALSE(is_ordinary(error_number));
  for (int error_number : {ENOENT, EEXIST, ENOTEMPTY, EXDEV, EPERM}) {
    EXPECT_TRUE(is_ordinary(error_number));
  }
}

TEST(ExitStatus, BadStores_EachHaveTheirOwn) {
  std::set<ExitStatus> seen;
  for (ErrorCode code :
       {ErrorCode::kStoreNotFound, ErrorCode::kNotAStore, ErrorCode::kStoreFormatTooNew,
        ErrorCode::kStoreLocked, ErrorCode::kStoreReadOnly, ErrorCode::kPermissionDenied,
        ErrorCode::kStoreDamaged, ErrorCode::kOutOfDiskSpace, ErrorCode::kIoError,
        kFileSystemUnfit}) {
    const ExitStatus status = exit_status_of(code);
    EXPECT_NE(status, ExitStatus::kOk);
    EXPECT_NE(status, ExitStatus::kFailure);
    EXPECT_TRUE(seen.insert(status).second) << static_cast<int>(code);
  }
}

}  // namespace
}  // namespace gridmount::fuse
