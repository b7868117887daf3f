#include "gridfs/bucket/chunk_document.h"

#include <algorithm>
#include <cstring>

#include "engine/bson/builder.h"

namespace gridmount::gridfs {
namespace {

constexpr size_t kIdOffset = 4 + 1 + sizeof("_id");         // length, type byte, name
constexpr uint32_t kNFromEnd = 4 + 1 + sizeof("data") + 5;  // n, and the head of `data`
constexpr uint32_t kBinaryHeadBytes = 5;                    // length, subtype

void put_int32(uint8_t* out, int32_t value) {
  const auto bits = static_cast<uint32_t>(value);
  for (int i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(bits >> (8 * i));
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

uint32_t bytes_of_chunk(int64_t n, int64_t length, int64_t chunk_bytes) {
  const int64_t begin = n * chunk_bytes;
  return static_cast<uint32_t>(std::clamp<int64_t>(length - begin, 0, chunk_bytes));
}

}  // namespace gridmount::gridfs
