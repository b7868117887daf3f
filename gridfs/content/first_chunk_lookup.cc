#include "gridfs/content/first_chunk_lookup.h"

#include <utility>

#include "engine/bson/builder.h"
#include "engine/transient_error.h"
#include "gridfs/bucket/chunk_document.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kFile = "file";
constexpr std::string_view kData = "data";

// Returns the pipeline to run on `files`. Servers read the document of `files` before the other
// collection.
bson::Document stages_of(const engine::Collection& chunks, bson::ValueView id) {
  bson::Builder pipeline;
  bson::Builder& stages = pipeline.open_array("stages");
  stages.push_open_document().append("$match", equals("_id", id)).close();
  stages.push_open_document().open_document("$replaceWith").append(kFile, "$$ROOT");
  stages.close().close();
  stages.push_open_document().open_document("$unionWith");
  stages.append("coll", chunks.ns().collection).open_array("pipeline");
  stages.push_open_document().open_document("$match").append("files_id", id);
  stages.append("n", int32_t{0}).open_document("data").append("$type", "binData").close();
  stages.close().close();
  stages.push_open_document().append("$limit", int64_t{1}).close();
  stages.push_open_document().open_document("$match").open_document("$expr");
  bson::Builder& compared = stages.open_array("$lte");
  compared.push_open_document().append("$binarySize", "$data").close();
  compared.push(bson::Value(FirstChunkLookup::kFirstChunkBytesMax).view()).close();
  stages.close().close().close();
  stages.push_open_document().open_document("$replaceWith").append(kData, "$data");
  stages.close().close();
  stages.close().close().close();
  stages.close();
  return std::move(pipeline).finish();
}

}  // namespace

FirstChunkLookup::FirstChunkLookup(const Bucket& bucket)
    : bucket_(bucket), is_usable_(!bucket.store().capabilities().exclusive) {}

Result<std::optional<FirstChunkLookup::Found>> FirstChunkLookup::find(bson::ValueView id) const {
  const bson::Document pipeline = stages_of(bucket_.chunks(), id);
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, bucket_.store().snapshot());
  const Result<std::unique_ptr<engine::Cursor>> cursor =
      bucket_.files().aggregate(*snapshot, pipeline.view()["stages"].as_document());
  if (!cursor) {
    if (engine::is_transient(cursor.error())) return fail(cursor.error());
    is_usable_ = false;
    return std::optional<Found>();
  }
  Found found;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, (*cursor)->next());
    if (!document) return std::optional(std::move(found));
    if (const std::optional<bson::ValueView> file = document->find(kFile)) {
      if (file->type() == bson::Type::kDocument) found.file.emplace(file->as_document());
    }
    if (const std::optional<bson::ValueView> data = document->find(kData)) {
      if (data->type() != bson::Type::kBinary) continue;
      const bson::Binary bytes = data->as_binary();
      found.chunk =
          std::make_shared<const std::vector<uint8_t>>(bytes.data, bytes.data + bytes.size);
    }
  }
}

}  // namespace gridmount::gridfs
