// Reads and writes files documents. length and chunkSize may have any numeric type. All updates
// made here keep unknown top-level fields and unknown fields of `metadata`. Source: GridFS
// specification, "files collection document". The specification has no POSIX fields: NAMESPACE.md
// describes them.
//
// The functions have no state, so they are thread-safe. The structs are plain values, so not
// thread-safe.
#pragma once

#include <time.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "gridfs/bucket/allocated_ranges.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/bucket/xattrs.h"

namespace gridmount::gridfs {

// The block size that a mount reports: st_blksize of stat(2), and the granularity of holes and
// allocated ranges.
inline constexpr int64_t kBlockBytes = 4096;

// The maximum number of names of one file, as in ext4.
inline constexpr int64_t kMaxLinks = 65'000;
// The field of a files document with the number of the file's additional names.
inline constexpr std::string_view kRecordedLinksPath = "metadata.posix.links";
// Returns the value of kRecordedLinksPath, between 0 and kMaxLinks - 1. Returns 0 if the field is
// missing or is not a whole number.
int64_t recorded_links(bson::View files_document);

// The fields that a mount keeps about a file or directory beyond GridFS: the subdocument
// `metadata.posix` of a files document, or `posix` of a directories document. Absent fields are
// nullopt.
struct PosixFields {
  std::optional<uint32_t> mode;  // permission bits and type (S_IFMT) as in st_mode
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  std::optional<timespec> atime;
  std::optional<timespec> mtime;
  std::optional<timespec> ctime;
  std::optional<uint64_t> rdev;
  std::optional<std::string> symlink_target;  // bytes, not necessarily UTF-8
  std::optional<Xattrs> xattrs;               // in a change, an empty set removes all xattrs
};

// Takes the fields that a node has, and returns the fields to change. The function is called in a
// short transaction, so it must obey rule S6 of engine/store.h. The function is called again
// whenever the transaction is repeated (retry.h).
using PosixChange = std::function<Result<PosixFields>(const PosixFields&)>;

// Returns true if the process that asks for a change is in the group, or is privileged.
using GroupCheck = std::function<bool(uint32_t group)>;

// Encoding: mode, uid, gid and rdev are int32, or int64 where int32 does not hold the value. Each
// time has two fields: `mtime`, for example, is a Date (milliseconds, rounded down), and `mtimeNs`
// an int32 (nanoseconds within the millisecond, left out if 0). `symlinkTarget` is a string, or
// Binary if it is not UTF-8. xattrs.h describes `xattrs`, which is left out if it is empty.
void append_posix_fields(bson::Builder& builder, const PosixFields& fields);
PosixFields read_posix_fields(bson::View posix);
// Appends to `set` and `unset` the fields of `$set` and `$unset` that make `changes`. `prefix`
// ("metadata.posix.") precedes the names of the fields.
void append_posix_changes(const PosixFields& changes, std::string_view prefix, bson::Builder& set,
                          bson::Builder& unset);
// Returns {$set: ..., $unset: ...}, without an operator that has no fields. Consumes both builders.
bson::Document update_of(bson::Builder& set, bson::Builder& unset);
// Sets in `fields` every field that `changes` has.
void merge_posix_fields(PosixFields& fields, const PosixFields& changes);

timespec to_timespec(bson::Date date);
// Rounds down to milliseconds. A time beyond the range of Date becomes the last or first Date.
bson::Date to_date(const timespec& time);
// Returns the nearest time that a document can hold.
timespec nearest_kept(const timespec& time);

struct FilesDocument {
  bson::Value id;
  int64_t length = 0;
  int32_t chunk_bytes = kDefaultChunkBytes;
  // True if the document's chunkSize is above kMaxStoredChunkBytes, or if it is above
  // max_chunk_bytes() and all content fits into a chunk of that size. The first chunk then has all
  // content, and `chunk_bytes` is a size that a chunk can have. A commit that changes the content
  // writes `chunk_bytes` into the document.
  bool chunk_size_is_too_large = false;
  bson::Date upload_date;
  std::optional<std::string> md5;           // 32 hexadecimal digits
  std::optional<std::string> filename;      // nullopt: missing or not a string
  std::optional<std::string> content_type;  // top-level field, or metadata.contentType
  bool sparse = false;                      // metadata.sparse: absent chunks are zeros
  // metadata.storedChunks of a sparse file: the number of its chunks that the store has. Unset if
  // the number is unknown.
  std::optional<int64_t> stored_chunks;
  PosixFields posix;
  // metadata.posix.allocated: an array of int64 numbers begin, end, begin, end, ... of the runs, in
  // ascending order. Empty if the field has any other form.
  AllocatedRanges allocated;

  int64_t chunk_count() const { return length / chunk_bytes + (length % chunk_bytes != 0 ? 1 : 0); }

  // Fails with kInvalidFilesDocument, with the _id and the field in the message, if _id is missing,
  // if length or chunkSize is missing, not a whole number or negative, if chunkSize is 0, or if
  // length is more than max_file_bytes(). If chunkSize is above kMaxStoredChunkBytes, length must
  // fit into one chunk.
  static Result<FilesDocument> parse(bson::View document);
};

inline constexpr std::string_view kAllocatedField = "allocated";
// Appends the field to `$set`, or to `$unset` if there are no ranges.
void append_allocated(const AllocatedRanges& ranges, bson::Builder& set, bson::Builder& unset);

}  // namespace gridmount::gridfs
