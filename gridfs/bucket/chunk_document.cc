#include "gridfs/bucket/chunk_document.h"

#include <algorithm>
#include <cstring>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/error.h"

namespace gridmount::gridfs {
namespace {

constexpr size_t kIdOffset = 4 + 1 + sizeof("_id");         // length, type byte, name
constexpr uint32_t kNFromEnd = 4 + 1 + sizeof("data") + 5;  // n, and the head of `data`
constexpr uint32_t kBinaryHeadBytes = 5;                    // length, subtype

void put_int32(uint8_t* out, int32_t value) {
  const auto bits = static_cast<uint32_t>(value);
  for (int i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(bits >> (8 * i));
}

std::string chunk_name(bson::ValueView files_id, int64_t n) {
  return "chunk " + std::to_string(n) + " of the file with _id " +
         bson::to_json(files_id, bson::JsonForm::kRelaxed);
}

}  // namespace

ChunkLayout::ChunkLayout(bson::ValueView files_id, int32_t chunk_bytes)
    : chunk_bytes_(static_cast<uint32_t>(chunk_bytes)) {
  bson::Builder builder;
  builder.append("_id", bson::ObjectId());
  builder.append("files_id", files_id);
  builder.append("n", int32_t{0});
  builder.append("data", bson::Binary{});
  header_ = std::move(builder).finish().release();
  header_.pop_back();  // the NUL; it follows the content
}

void ChunkLayout::begin(uint8_t* document, bson::ObjectId id) const {
  std::memcpy(document, header_.data(), header_.size());
  set_id(document, id);
}

void ChunkLayout::set_id(uint8_t* document, bson::ObjectId id) const {
  std::memcpy(document + kIdOffset, id.bytes().data(), id.bytes().size());
}

bson::View ChunkLayout::finish(uint8_t* document, int32_t n, uint32_t content_bytes) const {
  const uint32_t size = header_bytes() + content_bytes + 1;
  put_int32(document, static_cast<int32_t>(size));
  put_int32(document + header_bytes() - kNFromEnd, n);
  put_int32(document + header_bytes() - kBinaryHeadBytes, static_cast<int32_t>(content_bytes));
  document[size - 1] = 0;
  return bson::View(document, size);
}

ChunkFilter::ChunkFilter(bson::ValueView files_id) {
  bson::Builder builder;
  builder.append_all(equals("files_id", files_id)).append("n", int32_t{0});
  bytes_ = std::move(builder).finish().release();
}

bson::View ChunkFilter::at(int32_t n) {
  put_int32(bytes_.data() + bytes_.size() - 5, n);
  return bson::View(bytes_.data(), static_cast<uint32_t>(bytes_.size()));
}

bson::Document equals(std::string_view field, bson::ValueView value) {
  bson::Builder builder;
  if (value.type() == bson::Type::kDocument) {
    builder.open_document(field).append("$eq", value).close();
  } else {
    builder.append(field, value);
  }
  return std::move(builder).finish();
}

bson::Document chunk_range(bson::ValueView files_id, int64_t first, int64_t last) {
  bson::Builder builder;
  builder.append_all(equals("files_id", files_id));
  builder.open_document("n").append("$gte", first).append("$lt", last).close();
  return std::move(builder).finish();
}

StoredChunks::StoredChunks(engine::Collection& chunks, bson::ValueView files_id,
                           int32_t chunk_bytes)
    : chunks_(chunks), files_id_(files_id), chunk_bytes_(chunk_bytes), filter_(files_id) {}

Result<std::optional<StoredChunks::Chunk>> StoredChunks::find_any(engine::Snapshot& snapshot,
                                                                  int64_t n, Verify verify) {
  engine::FindOptions options;
  options.partial = verify == Verify::kNothing;
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
  return chunks.find(snapshot, chunk_range(files_id, first, last), options);
}

tl::unexpected<Error> chunk_is_missing(bson::ValueView files_id, int64_t n) {
  return fail(kChunkIsMissing, chunk_name(files_id, n) + " is missing");
}

uint32_t bytes_of_chunk(int64_t n, int64_t length, int64_t chunk_bytes) {
  const int64_t begin = n * chunk_bytes;
  return static_cast<uint32_t>(std::clamp<int64_t>(length - begin, 0, chunk_bytes));
}

}  // namespace gridmount::gridfs
