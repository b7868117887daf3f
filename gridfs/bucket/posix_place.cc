#include "gridfs/bucket/posix_place.h"

#include <string_view>
#include <utility>

#include "engine/bson/builder.h"
#include "gridfs/bucket/chunk_document.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kMetadata = "metadata";
constexpr std::string_view kPosix = "metadata.posix";

// The value that stands in the place of a document. find_obstacle() returns nothing if a document
// is there or can be created.
struct Obstacle {
  std::string_view path;
  bson::ValueView value;

  bool is_null() const { return value.type() == bson::Type::kNull; }
};

std::optional<Obstacle> find_obstacle(bson::View files_document) {
  const std::optional<bson::ValueView> metadata = files_document.find(kMetadata);
  if (!metadata) return std::nullopt;
  if (metadata->type() != bson::Type::kDocument) return Obstacle{kMetadata, *metadata};
  const std::optional<bson::ValueView> posix = metadata->as_document().find("posix");
  if (!posix || posix->type() == bson::Type::kDocument) return std::nullopt;
  return Obstacle{kPosix, *posix};
}

}  // namespace

bool accepts_posix_fields(bson::View files_document) {
  const std::optional<Obstacle> found = find_obstacle(files_document);
  return !found || found->is_null();
}

std::optional<bson::Document> update_to_make_place(bson::View files_document) {
  const std::optional<Obstacle> found = find_obstacle(files_document);
  if (!found) return std::nullopt;
  bson::Builder update;
  if (found->is_null()) {
    update.open_document("$unset").append(found->path, "").close();
  } else {
    update.open_document("$set").open_document(found->path);
    update.append("value", found->value).close().close();
  }
  return std::move(update).finish();
}

Result<engine::UpdateResult> update_file(engine::Collection& collection,
                                         engine::Transaction& transaction, bson::ValueView id,
                                         bson::View update, std::optional<bson::Date> upload_date) {
  bson::Document by_id = equals("_id", id);
  if (upload_date) {
    bson::Builder filter;
    filter.append_all(by_id).append("uploadDate", *upload_date);
    by_id = std::move(filter).finish();
  }
  Result<engine::UpdateResult> updated = collection.update(transaction, by_id, update);
  if (updated || updated.error().code() != ErrorCode::kPathNotViable) return updated;
  std::optional<bson::Document> place;
  {
    GM_ASSIGN(const std::optional<bson::View> document, collection.find_one(transaction, by_id));
    if (document) place = update_to_make_place(*document);
  }
  if (!place) return updated;
  GM_TRY(collection.update(transaction, by_id, *place));
  return collection.update(transaction, by_id, update);
}

}  // namespace gridmount::gridfs
