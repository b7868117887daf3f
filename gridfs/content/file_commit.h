// One commit of an open file: everything that the commit changes in the store, and the function
// that writes it in a transaction.
//
// A FileCommit must be used by one thread at a time. The functions are thread-safe, but the caller
// of write_commit() must hold the file's commit lock.
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
  // The _id of the chunk's document, if it is known. If it is unset, a stored chunk keeps its _id,
  // and a new chunk gets a new _id.
  std::optional<bson::ObjectId> id;
  ChangedBlocks changed = {};  // the blocks that differ from the stored chunk
  // True if the buffer has only the blocks in `changed`. The store must have the other blocks.
  bool is_partial = false;
};

struct FileCommit {
  // write_commit() sets this to the number of a partial chunk if it fails because the store no
  // longer has the other blocks of this chunk, or has damaged ones.
  std::optional<int64_t> unwritable;
  std::vector<CommittedChunk> chunks;  // by ascending n
  // The stored chunks with the numbers [remove_from, remove_to) are removed before `chunks` are
  // written. If they are many, some of them are removed later (chunks_removed_at_once()).
  int64_t remove_from = 0;
  int64_t remove_to = 0;

  int64_t length = 0;
  std::optional<int32_t> chunk_bytes;  // the new chunkSize, if it changes
  // The new uploadDate. Must be set if the content changes. write_commit() may choose another date,
  // and then assigns it to this field.
  std::optional<bson::Date> upload_date;
  // The uploadDate that the files document must still have. Set if other processes may change the
  // file.
  std::optional<bson::Date> expected_date;
  // True if another process may have truncated the file and may have left chunks after the file's
  // end. write_commit() then removes such chunks first.
  bool may_meet_garbage = false;
  std::optional<std::string> md5;  // if set, becomes the document's md5
  bool keep_md5 = false;           // without `md5`: true keeps the stored md5, false removes it
  bool sparse = false;
  bool was_sparse = false;
  // The number of chunks that the store has within the file's length, if it is known. The caller
  // must set the old number before the commit. write_commit() replaces it by the new number. The
  // number is right even if write_commit() fails after the first of two transactions. The files
  // document of a sparse file has this number.
  std::optional<int64_t> stored_chunks;
  // If write_commit() fails after the first of two transactions, it sets this to the length that
  // the file now has in the store.
  std::optional<int64_t> cut_length;
  std::optional<AllocatedRanges> allocated;  // set if they change
  std::optional<timespec> mtime;             // mtime and ctime: set if they change
  std::optional<timespec> ctime;
};

// Returns the number of chunks in 16 MiB, but at least 1. If a commit would remove more stored
// chunks than this, it leaves those behind the last chunk that it writes to a later removal. So a
// transaction that writes n chunks removes at most n + chunks_removed_at_once() chunks.
inline int64_t chunks_removed_at_once(int64_t chunk_bytes) {
  return std::max<int64_t>(int64_t{16} * 1024 * 1024 / chunk_bytes, 1);
}

// Writes the commit in one transaction. Needs two transactions if the file was truncated by more
// chunks than one transaction removes, and has grown again. The first transaction then commits the
// file with only the chunks before remove_from, and with a date of its own. If a later step fails,
// `commit` has what is left to write. Fails with FileNotFound if neither `files` nor `detached` has
// the files document, and with FileChanged if the document has another uploadDate than
// FileCommit::expected_date. An earlier truncation may have left chunks. If this commit truncates
// the file too, or if its length reaches these chunks, removes them first, in other transactions of
// bounded size. In the memory of the buffers, changes only their headers, and the byte after the
// content of each buffer.
Status write_commit(FileContext& context, const bson::Value& id, const ChunkLayout& layout,
                    int32_t chunk_bytes, FileCommit& commit);

// Sets `changes` in the files document in one transaction. Fails with FileNotFound if neither
// `files` nor `detached` has the document. Does nothing, and succeeds, if there are no changes.
Status write_posix(const FileContext& context, const bson::Value& id, const PosixFields& changes);
// Like write_posix(), but `change` computes the changes from the present fields of the document.
// `change` is called again if the transaction must be repeated. Returns the changes. Fails with
// FileNotFound even if there are no changes, and also with the errors of `change` and of
// FilesDocument::parse().
Result<PosixFields> change_posix(const FileContext& context, const bson::Value& id,
                                 const PosixChange& change);

}  // namespace gridmount::gridfs
