// One commit of an open file: everything that is to change in the store, and the transaction that
// does it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/content/chunk_memory.h"
#include "gridfs/content/file_context.h"

namespace gridmount::gridfs {

struct CommittedChunk {
  int64_t n = 0;
  std::shared_ptr<ChunkBuffer> buffer;  // laid out by the file's ChunkLayout
  uint32_t size = 0;                    // bytes of content
  bool may_be_stored = false;           // the store may have this chunk already
  // The _id the document gets. If there is none a stored chunk's is kept, else one is made.
  std::optional<bson::ObjectId> id;
};

struct FileCommit {
  std::vector<CommittedChunk> chunks;  // by ascending n
  // Stored chunks [remove_from, remove_to) are removed, before the others are written.
  int64_t remove_from = 0;
  int64_t remove_to = 0;

  int64_t length = 0;
  std::optional<int32_t> chunk_bytes;  // set if the document says another size
  // Set if the content changes; the commit makes it what the document gets.
  std::optional<bson::Date> upload_date;
  std::optional<std::string> md5;  // set; otherwise the field is removed, unless
  bool keep_md5 = false;           // it is to stay as it is
  bool sparse = false;
  bool was_sparse = false;
  // How many chunks within its length the store has of the file, if known: before the commit, which
  // makes it what it is afterwards, also where it fails halfway. A sparse file's document has it.
  std::optional<int64_t> stored_chunks;
  std::optional<AllocatedRanges> allocated;  // set if they change
  std::optional<timespec> mtime;             // as well
  std::optional<timespec> ctime;
};

// More chunks are not removed in one transaction: a commit that removes more is for cutting a file,
// and leaves them to be removed later. So many are 16 MiB, or one chunk.
inline int64_t chunks_removed_at_once(int64_t chunk_bytes) {
  return std::max<int64_t>(int64_t{16} * 1024 * 1024 / chunk_bytes, 1);
}

// Commits it. FileNotFound if the files document is neither in `files` nor in `detached`. Runs
// bounded transactions before it if chunks are to be written where garbage of an earlier truncation
// still stands. Touches the buffers' headers and the byte behind their content, nothing else.
Status write_commit(FileContext& context, const bson::Value& id, const ChunkLayout& layout,
                    int32_t chunk_bytes, FileCommit& commit);

// Sets `changes` in the files document, wherever it stands. One transaction.
Status write_posix(const FileContext& context, const bson::Value& id, const PosixFields& changes);
// The same with changes that depend on what the document has; returns them.
Result<PosixFields> change_posix(const FileContext& context, const bson::Value& id,
                                 const PosixChange& change);

}  // namespace gridmount::gridfs
