// A files document, read and written. Any numeric type is read for length and chunkSize; unknown
// root fields and unknown metadata are kept by every update made here. Source: GridFS
// specification, "files collection document"; the POSIX fields are ours, see NAMESPACE.md.
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
#include "gridfs/bucket/xattrs.h"

namespace gridmount::gridfs {

inline constexpr int32_t kDefaultChunkBytes = 256 * 1024;
// The largest that files are made with here: it fits a document of 16 MiB beside its other fields,
// with any _id of less than 16 KiB, and is a multiple of what the kernel asks for.
inline constexpr int32_t kMaxChunkBytes = 16 * 1024 * 1024 - 16 * 1024;
// What a chunk document may hold at most, whoever made it: 16 MiB without the fields _id, files_id,
// n and data, of which the first two have values of no bytes.
inline constexpr int32_t kMaxStoredChunkBytes = 16 * 1024 * 1024 - 38;
// The same of the chunk documents made here for the file of that _id. At least 1.
int32_t max_chunk_bytes(bson::ValueView files_id);
// The length of the largest file whose chunks have that size: n is an int32.
int64_t max_file_bytes(int32_t chunk_bytes);

// As many names as ext4 allows for one file.
inline constexpr int64_t kMaxLinks = 65'000;
// The field of a files document with the number of the file's further names.
inline constexpr std::string_view kNotedLinksPath = "metadata.posix.links";
// That number, between 0 and kMaxLinks - 1; 0 if the field is missing or no number.
int64_t noted_links(bson::View files_document);

// What a mount keeps about a file or folder beyond GridFS, in the subdocument `metadata.posix` of a
// files document or `posix` of a directories document. Absent fields are nullopt.
struct PosixFields {
  std::optional<uint32_t> mode;  // permission bits and type (S_IFMT) as in st_mode
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  std::optional<timespec> atime;
  std::optional<timespec> mtime;
  std::optional<timespec> ctime;
  std::optional<uint64_t> rdev;
  std::optional<std::string> symlink_target;  // bytes, not necessarily UTF-8
  std::optional<Xattrs> xattrs;               // as a change: none of them if empty
};

// The fields to change of a node, given those it has.
using PosixChange = std::function<Result<PosixFields>(const PosixFields&)>;

// Whether who asks for a change is in a group, or need not be.
using GroupCheck = std::function<bool(uint32_t group)>;

// The subdocument's fields: mode, uid, gid, rdev as int64 where int32 does not hold them; a time
// `mtime` is a Date (milliseconds, rounded down) and `mtimeNs` int32 (nanoseconds within it, left
// out if 0). `symlinkTarget` is a string, or Binary if it is not UTF-8. `xattrs`: xattrs.h; left
// out if there are none.
void append_posix_fields(bson::Builder& builder, const PosixFields& fields);
PosixFields read_posix_fields(bson::View posix);
// The fields of `$set` and `$unset` that make those changes where `prefix` ("metadata.posix.")
// stands before the fields' names.
void append_posix_changes(const PosixFields& changes, std::string_view prefix, bson::Builder& set,
                          bson::Builder& unset);
// {$set: ..., $unset: ...} without the one that has no fields; both are used up.
bson::Document update_of(bson::Builder& set, bson::Builder& unset);
// Sets in `fields` what `changes` has.
void merge_posix_fields(PosixFields& fields, const PosixFields& changes);

timespec to_timespec(bson::Date date);
// Rounded down to milliseconds; what is further than a Date can be becomes the last or first one.
bson::Date to_date(const timespec& time);
// The nearest time that a document can keep.
timespec nearest_kept(const timespec& time);

struct FilesDocument {
  bson::Value id;
  int64_t length = 0;
  int32_t chunk_bytes = kDefaultChunkBytes;
  // The document says more than a chunk can have, and all there is fits the first one, of which
  // `chunk_bytes` is then the size: whoever changes the content writes that into it.
  bool chunk_size_is_too_large = false;
  bson::Date upload_date;
  std::optional<std::string> md5;           // 32 hexadecimal digits
  std::optional<std::string> filename;      // nullopt: missing or not a string
  std::optional<std::string> content_type;  // root field or metadata.contentType
  bool sparse = false;                      // metadata.sparse: absent chunks are zeros
  // metadata.storedChunks of a sparse file: how many of its chunks are there. Nobody may know.
  std::optional<int64_t> stored_chunks;
  PosixFields posix;
  // metadata.posix.allocated: the numbers begin, end, begin, end, ... of its runs, int64. Nothing
  // where something else stands there.
  AllocatedRanges allocated;

  int64_t chunk_count() const { return length / chunk_bytes + (length % chunk_bytes != 0 ? 1 : 0); }

  // InvalidFilesDocument naming the _id and the field, when length or chunkSize are missing, not
  // whole numbers, negative, chunkSize is 0, or length is more than max_file_bytes() or
  // than the one chunk can have that a chunkSize above kMaxStoredChunkBytes allows.
  static Result<FilesDocument> parse(bson::View document);
};

inline constexpr std::string_view kAllocatedField = "allocated";
// The field of `$set`, or of `$unset` if there are none, that makes them the document's.
void append_allocated(const AllocatedRanges& ranges, bson::Builder& set, bson::Builder& unset);

}  // namespace gridmount::gridfs
