// The bucket lost+found of a database: what could be read of files that were damaged.
//
// Such a file has a new _id, its old name behind the name of its bucket ("fs/a/b.bin"), the old
// chunkSize and attributes (metadata.posix), chunks that are zeros where they were missing or
// short (metadata.sparse), and in metadata.lostAndFound
//   {bucket, _id, problems: [what was wrong], original: the files document as it was}
// and, until all its chunks have moved, moving: true.
// Thread-safety: used by one thread at a time.
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
  // For files of `from`.
  LostAndFound(RepairContext& context, const gridfs::Bucket& from,
               const std::shared_ptr<engine::Database>& database);

  // Moves the file in several transactions: first the document in lost+found is made, the last
  // takes the one in the bucket away. Bytes that have no place in the new file, and chunks without
  // a usable n or data, are kept in the folder.
  Status move(const ContentDamage::File& file);
  // The same with chunks whose files document has been lost, all but what is found of its name.
  Status move_orphans(const Place& place, const bson::Value& files_id,
                      const std::optional<std::string>& filename);
  // Goes on where a repair ended while it moved a file of the bucket.
  Status finish_interrupted();

 private:
  // What the new file is like.
  struct Target {
    bson::Value id;
    bson::Value old_id;
    int32_t chunk_bytes = 0;
    int64_t length = 0;
    std::string filename;
    uint64_t chunks = 0;  // moved
  };

  // Of what the file's document is, or was.
  Status move(std::unique_ptr<engine::Transaction> transaction, const ContentDamage::File& file,
              const bson::Document& document, bool is_original);
  Result<Target> make_target(engine::Transaction& transaction, const ContentDamage::File& file,
                             bson::View document, bool is_original);
  // What the chunks of a file tell that can have a place in it.
  struct Chunks {
    int64_t largest = 0;  // bytes
    int64_t last_n = -1;  // none
    int64_t last_bytes = 0;
    // Behind the last byte that has a place.
    int64_t end(int32_t chunk_bytes) const;
  };
  Result<Chunks> survey(engine::Snapshot& snapshot, bson::ValueView id);
  Result<std::string> free_name(engine::Snapshot& snapshot, const std::string& wanted);
  bson::Document target_document(const Target& target, const ContentDamage::File& file,
                                 bson::View original, bool with_original) const;
  Status move_chunks(Target& target);
  Status move_chunk(engine::Transaction& transaction, Target& target, bson::View chunk);
  Status finish(const Target& target);

  RepairContext& context_;
  const gridfs::Bucket& from_;
  const gridfs::Bucket to_;
};

// Some chunks that match, in the transaction: as many as it may take out, at least one if there are
// any.
Result<std::vector<bson::Document>> some_chunks(const gridfs::Bucket& bucket,
                                                engine::Transaction& transaction,
                                                bson::View filter);

// The _id's time if it has one, else now.
bson::Date date_of(const bson::Value& id);

// "missing chunks: 1; length is ..."
std::string in_words(const std::vector<std::string>& problems);

}  // namespace gridmount::tools
