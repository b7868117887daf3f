// One commit of an open file: everything that the commit changes in the store, and the function
// that writes it in a transaction.
//
// FileCommit belongs to one thread. The functions are thread-safe, but the caller of write_commit()
// holds the file's commit lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/content/changed_blocks.h"
#include "gridfs/content/chunk_memory.h"
#include "gridfs/content/file_context.h"

namespace gridmount::gridfs {

struct CommittedChunk {
  int64_t n = 0;
  std::shared_ptr<ChunkBuffer> buffer;  // laid out by the file's ChunkLayout
  uint32_t size = 0;                    // bytes of content
  bool may_be_stored = false;           // the store may have this chunk already
  // The _id of the document. If unset, a stored chunk keeps its _id, and a new chunk gets a new
  // one.
  std::optional<bson::ObjectId> id;
  ChangedBlocks changed = {};  // the blocks that differ from those of the stored chunk
  // The buffer has only the blocks in `changed`, and the store has the rest.
  bool is_partial = false;
};

struct FileCommit {
  // The number of a chunk. write_commit() sets it if it fails because of a partial chunk: the store
  // no longer has the rest of this chunk, or the rest is damaged.
  std::optional<int64_t> unwritable;
  std::vector<CommittedChunk> chunks;  // by ascending n
  // The stored chunks [remove_from, remove_to) are removed before `chunks` are written.
  int64_t remove_from = 0;
  int64_t remove_to = 0;

  int64_t length = 0;
  std::optional<int32_t> chunk_bytes;  // set if the document has another chunkSize
  // The new uploadDate. Must be set if the content changes. write_commit() may choose another date,
  // and then puts it here.
  std::optional<bson::Date> upload_date;
  // Set if other processes may change the file: the uploadDate that the document must still have.
  std::optional<bson::Date> expected_date;
  // True if another process may have truncated the file, and may not have removed yet all chunks
  // that it has cut off.
  bool may_meet_garbage = false;
  std::optional<std::string> md5;  // if set, becomes the document's md5
  bool keep_md5 = false;           // without `md5`: true keeps the stored md5, false removes it
  bool sparse = false;
  bool was_sparse = false;
  // How many chunks within the file's length the store has, if known. The caller sets the number
  // before the commit. write_commit() sets the new number, also if it needs two transactions and
  // only the first one succeeds. The document of a sparse file has the number.
  std::optional<int64_t> stored_chunks;
  std::optional<AllocatedRanges> allocated;  // set if they change
  std::optional<timespec> mtime;             // mtime and ctime: set if they change
  std::optional<timespec> ctime;
};

// Returns how many chunks one transaction removes at most, beside as many as it writes: 16 MiB of
// chunks, or one chunk. If a commit would remove more, it truncates the file and leaves chunks for
// a later removal.
inline int64_t chunks_removed_at_once(int64_t chunk_bytes) {
  return std::max<int64_t>(int64_t{16} * 1024 * 1024 / chunk_bytes, 1);
}

// Writes the commit in one transaction, or in two if the file was truncated by many chunks and has
// grown again. The first one then commits the truncated file up to the end of its last chunk, with
// a date of its own. If only the second one fails, `commit` has what is left to be written. Fails
// with FileNotFound if the files document is neither in `files` nor in `detached`, and with
// FileChanged if it has another uploadDate than FileCommit::expected_date. If an earlier truncation
// has left chunks that this commit reaches, or if this commit truncates, other transactions of
// bounded size remove these chunks first. Writes to the headers of the buffers and to the byte
// after the content, and to no other bytes of the buffers.
Status write_commit(FileContext& context, const bson::Value& id, const ChunkLayout& layout,
                    int32_t chunk_bytes, FileCommit& commit);

// Sets `changes` in the files document, which is in `files` or in `detached`, in one transaction.
// Fails with FileNotFound if there is no such document. Does nothing, and succeeds, if there are no
// changes.
Status write_posix(const FileContext& context, const bson::Value& id, const PosixFields& changes);
// Like write_posix(), but `change` makes the changes from the fields of the document. It is called
// again if the transaction must be repeated. Returns the changes. Fails with FileNotFound even if
// there are no changes, and also with the errors of `change`.
Result<PosixFields> change_posix(const FileContext& context, const bson::Value& id,
                                 const PosixChange& change);

}  // namespace gridmount::gridfs
