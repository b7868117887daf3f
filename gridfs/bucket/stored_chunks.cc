#include "gridfs/bucket/stored_chunks.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/binary_overwrite.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/error.h"

namespace gridmount::gridfs {
namespace {

std::string chunk_name(bson::ValueView files_id, int64_t n) {
  return "chunk " + std::to_string(n) + " of the file with _id " +
         bson::to_json(files_id, bson::JsonForm::kRelaxed);
}

}  // namespace

StoredChunks::StoredChunks(engine::Collection& chunks, bson::ValueView files_id,
                           int32_t chunk_bytes, Valid valid)
    : chunks_(chunks),
      files_id_(files_id),
      chunk_bytes_(chunk_bytes),
      one_at_a_time_(valid == Valid::kLast),
      filter_(files_id) {}

Result<std::optional<StoredChunks::Chunk>> StoredChunks::find_any(engine::Snapshot& snapshot,
                                                                  int64_t n, Verify verify) {
  engine::FindOptions options;
  options.partial = verify == Verify::kNothing;
  options.one_at_a_time = one_at_a_time_;
  GM_ASSIGN(const std::optional<bson::View> document,
            chunks_.find_one(snapshot, filter_.at(static_cast<int32_t>(n)), options));
  if (!document) return std::optional<Chunk>();
  const std::optional<bson::ValueView> data = document->find("data");
  if (!data || data->type() != bson::Type::kBinary) {
    return fail(kChunkIsWrongSize, chunk_name(files_id_, n) + " has no binary data");
  }
  const bson::Binary content = data->as_binary();
  return std::optional(Chunk{(*document)["_id"], {content.data, content.size}});
}

Result<std::optional<StoredChunks::Chunk>> StoredChunks::find(engine::Snapshot& snapshot, int64_t n,
                                                              int64_t length, Verify verify) {
  GM_ASSIGN(const std::optional<Chunk> chunk, find_any(snapshot, n, verify));
  const uint32_t expected = bytes_of_chunk(n, length, chunk_bytes_);
  if (chunk && chunk->content.size() != expected) {
    return fail(kChunkIsWrongSize, chunk_name(files_id_, n) + " has " +
                                       std::to_string(chunk->content.size()) +
                                       " bytes instead of " + std::to_string(expected));
  }
  return chunk;
}

Result<bool> StoredChunks::can_overwrite(engine::Snapshot& snapshot, int64_t n, uint32_t bytes) {
  auto* const overwriter = dynamic_cast<engine::BinaryOverwriter*>(&chunks_);
  if (overwriter == nullptr) return false;
  const bson::View filter = filter_.at(static_cast<int32_t>(n));
  GM_ASSIGN(const std::optional<uint32_t> found, overwriter->binary_size(snapshot, filter, "data"));
  return found == bytes;
}

void StoredChunks::prefetch(engine::Snapshot& snapshot, int64_t first, int64_t last) {
  if (first < last) chunks_.prefetch(snapshot, chunk_range(files_id_, first, last));
}

Result<std::unique_ptr<engine::Cursor>> chunks_by_number(engine::Collection& chunks,
                                                         engine::Snapshot& snapshot,
                                                         bson::ValueView files_id, int64_t first,
                                                         int64_t last) {
  static const bson::Document kByNumber = [] {
    bson::Builder order;
    order.append("files_id", int32_t{1}).append("n", int32_t{1});
    return std::move(order).finish();
  }();
  engine::FindOptions options;
  options.hint = bson::Value(kByNumber.view());
  options.only_paths = std::vector<std::string>{"n"};
  options.one_at_a_time = true;
  return chunks.find(snapshot, chunk_range(files_id, first, last), options);
}

tl::unexpected<Error> chunk_is_missing(bson::ValueView files_id, int64_t n) {
  return fail(kChunkIsMissing, chunk_name(files_id, n) + " is missing");
}

tl::unexpected<Error> chunk_is_wrong_size(bson::ValueView files_id, int64_t n) {
  return fail(kChunkIsWrongSize, chunk_name(files_id, n) + " has another size than it should have");
}

}  // namespace gridmount::gridfs
