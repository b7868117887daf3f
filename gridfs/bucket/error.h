// The error codes of GridFS and of the path namespace, in addition to MongoDB's error codes.
// fuse/errno.cc maps each code to an errno.
//
// Thread-safety: constants.
#pragma once

#include "engine/base/error.h"

namespace gridmount::gridfs {

// Errors of buckets and their files. The names of several of these codes come from the GridFS
// specification.
inline constexpr ErrorCode kFileNotFound{100001};
inline constexpr ErrorCode kRevisionNotFound{100002};
inline constexpr ErrorCode kChunkIsMissing{100003};
inline constexpr ErrorCode kChunkIsWrongSize{100004};
inline constexpr ErrorCode kInvalidRange{100005};  // the range of a download is not within the file
inline constexpr ErrorCode kStreamClosed{100006};  // a call of a closed or aborted upload
inline constexpr ErrorCode kInvalidFilesDocument{100007};  // _id, length or chunkSize unusable
// The store no longer has the files document of a file that is open, that is being uploaded, or
// that the kernel still knows. Also the error for an open file whose chunkSize another process has
// changed (content/file.h, F6).
inline constexpr ErrorCode kFileDeleted{100008};

// Another process has changed the content of a file between two commits of this process.
inline constexpr ErrorCode kFileChanged{100009};

// Errors of the path namespace.
inline constexpr ErrorCode kNoSuchEntry{100101};
inline constexpr ErrorCode kEntryExists{100102};
inline constexpr ErrorCode kNotADirectory{100103};
inline constexpr ErrorCode kIsADirectory{100104};
inline constexpr ErrorCode kDirectoryNotEmpty{100105};
inline constexpr ErrorCode kNameTooLong{100106};
// The name is reserved, or it has a slash or a NUL, or it is an escape (name_mapping.h) that is
// malformed, or not permitted in this directory or for this operation.
inline constexpr ErrorCode kInvalidName{100107};
inline constexpr ErrorCode kMoveIntoItself{100108};
inline constexpr ErrorCode kCrossBucket{100109};  // a rename or link from one bucket to another
inline constexpr ErrorCode kFileTooLarge{100110};
inline constexpr ErrorCode kBucketNotEmpty{100111};
inline constexpr ErrorCode kNoSuchXattr{100112};
inline constexpr ErrorCode kNoRoomForXattrs{100113};
inline constexpr ErrorCode kTooManyLinks{100115};
inline constexpr ErrorCode kFieldNotWritable{100116};  // a change of a field that xattrs only show

}  // namespace gridmount::gridfs
