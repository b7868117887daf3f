// The bucket lost+found of a database. It has the readable content of damaged files.
//
// Such a file has a new _id, its old name prefixed by the name of its bucket ("fs/a/b.bin"), its
// old chunkSize and attributes (metadata.posix), and chunks. If the old name is not known, the old
// _id in Extended JSON is used in place of it. Missing chunks, and the missing ends of short
// chunks, read as zeros (metadata.sparse). metadata.lostAndFound holds
//   {bucket, _id, problems: [what was wrong], original: the original files document}
// and, until all chunks of the file have moved, moving: true. If the new name is taken, the file
// gets that name with the suffix "~2", "~3" and so on. A files document that is not valid BSON or
// is larger than 1 MiB goes to the keep folder instead of `original`, and the new file has no
// attributes. If the files document is lost, the new file has neither `original` nor attributes. If
// gridfs::FilesDocument::parse() refuses the files document, the new file's chunkSize is the size
// of the largest chunk, or gridfs::kDefaultChunkBytes if no chunk has usable data.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/bucket_check.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

inline constexpr const char* kLostAndFound = "lost+found";

class LostAndFound {
 public:
  // Moves files of the bucket `from`. `context` and `from` must outlive this object.
  LostAndFound(RepairContext& context, const gridfs::Bucket& from,
               const std::shared_ptr<engine::Database>& database);

  // Moves the file in several transactions. The first moves the document. If others have changed or
  // removed it since the check, does nothing and returns false. The other transactions move the
  // chunks. If somebody uploads a file with the same _id meanwhile, the chunks that have not moved
  // yet stay. Writes a chunk to the keep folder if a part of it does not fit into the new file, if
  // it has no usable n or data, or if another chunk has the same n.
  Result<bool> move(const ContentDamage::File& file);
  // Moves the chunks of a file whose files document is lost. `filename` is set if the file's name
  // was found. Nothing else is known of the document.
  Status move_orphans(const Location& place, const bson::Value& files_id,
                      const std::optional<std::string>& filename);
  // Completes the moves of all files of the bucket `from` that an earlier repair has started.
  Status finish_interrupted();

 private:
  // The new file.
  struct RescuedFile {
    bson::Value id;
    bson::Value old_id;
    int32_t chunk_bytes = 0;
    int64_t length = 0;
    std::string filename;
    uint64_t chunks = 0;  // number of chunks moved
  };

  Status move_rest(const ContentDamage::File& file, RescuedFile& target);
  // Facts about the chunks that have a usable n and usable data.
  struct ChunkFacts {
    int64_t largest = 0;  // in bytes
    int64_t last_n = -1;  // -1: none
    int64_t last_bytes = 0;
    // Returns the length of a file that has these chunks and the chunkSize `chunk_bytes`, but at
    // most gridfs::max_file_bytes(). Ignores the bytes of the last chunk beyond `chunk_bytes`.
    int64_t end(int32_t chunk_bytes) const;
  };
  // Reads the chunks outside the transaction that moves the document, because a deployment ends a
  // long transaction.
  Result<ChunkFacts> measure_chunks(bson::ValueView id);
  Result<ChunkFacts> measure_chunks_once(bson::ValueView id);
  // `document` is the files document, or a replacement for it if `is_original` is false.
  Result<RescuedFile> make_target(engine::Transaction& transaction, const ContentDamage::File& file,
                                  bson::View document, const ChunkFacts& chunks, bool is_original);
  Result<bool> is_uploaded_anew(engine::Transaction& transaction, const RescuedFile& target);
  Result<std::string> free_name(engine::Snapshot& snapshot, const std::string& wanted);
  bson::Document target_document(const RescuedFile& target, const ContentDamage::File& file,
                                 bson::View original, bool with_original) const;
  Status move_chunks(RescuedFile& target);
  Status move_chunk(engine::Transaction& transaction, RescuedFile& target, bson::View chunk);
  Status finish(const RescuedFile& target);
  Status finish_once(const RescuedFile& target);

  RepairContext& context_;
  const gridfs::Bucket& from_;
  const gridfs::Bucket to_;
};

// Returns chunks that match `filter`, for one transaction: all of them, or as many as reach
// kRepairDocumentsMax or kRepairBytesMax. The last chunk may exceed kRepairBytesMax.
Result<std::vector<bson::Document>> some_chunks(const gridfs::Bucket& bucket,
                                                engine::Transaction& transaction,
                                                bson::View filter);

// Returns the time in the _id, or the current time if it has none.
bson::Date date_of(const bson::Value& id);

// Returns the problems with "; " between them.
std::string in_words(const std::vector<std::string>& problems);

}  // namespace gridmount::tools
