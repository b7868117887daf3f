#include "gridfs/bucket/file_fields.h"

#include <bson/bson.h>

#include <algorithm>
#include <array>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/error.h"

namespace gridmount::gridfs {
namespace {

constexpr std::array<std::string_view, 6> kRootFields = {"length", "chunkSize", "uploadDate",
                                                         "md5",    "filename",  "contentType"};

bool is_ours(std::string_view metadata_field) {
  return metadata_field == "posix" || metadata_field == "sparse" ||
         metadata_field == "storedChunks";
}

std::string text_of(bson::ValueView value) {
  switch (value.type()) {
    case bson::Type::kString:
      return std::string(value.as_string());
    case bson::Type::kObjectId:
      return value.as_object_id().hex();
    default:
      return bson::to_json(value, bson::JsonForm::kRelaxed);
  }
}

std::optional<bson::View> metadata_of(bson::View files_document) {
  const std::optional<bson::ValueView> metadata = files_document.find("metadata");
  if (!metadata || metadata->type() != bson::Type::kDocument) return std::nullopt;
  return metadata->as_document();
}

std::optional<std::string> metadata_text(bson::View files_document) {
  const std::optional<bson::View> metadata = metadata_of(files_document);
  if (!metadata) {
    const std::optional<bson::ValueView> other = files_document.find("metadata");
    if (!other || other->type() == bson::Type::kNull) return std::nullopt;
    return bson::to_json(*other, bson::JsonForm::kRelaxed);
  }
  bson::Builder others;
  bool any = false;
  for (const bson::Element element : *metadata) {
    if (is_ours(element.key)) continue;
    others.append(element.key, element.value);
    any = true;
  }
  if (!any) return std::nullopt;
  return bson::to_json(std::move(others).finish().view(), bson::JsonForm::kRelaxed);
}

Result<bson::Document> metadata_update(bson::View files_document,
                                       std::optional<std::string_view> text) {
  bson::Builder metadata;
  if (text) {
    const Result<bson::Document> parsed = bson::document_from_json(*text);
    // Every fault of the text gets this code, even nesting that is too deep.
    if (!parsed) return fail(ErrorCode::kFailedToParse, parsed.error().message());
    const bson::Document& given = *parsed;
    for (const bson::Element element : given.view()) {
      if (!is_ours(element.key)) metadata.append(element.key, element.value);
    }
  }
  if (const std::optional<bson::View> old = metadata_of(files_document)) {
    for (const bson::Element element : *old) {
      if (is_ours(element.key)) metadata.append(element.key, element.value);
    }
  }
  const bson::Document kept = std::move(metadata).finish();
  bson::Builder update;
  if (text || !kept.view().empty()) {
    update.open_document("$set").append("metadata", kept).close();
  } else {
    update.open_document("$unset").append("metadata", "").close();
  }
  return std::move(update).finish();
}

}  // namespace

std::optional<std::string> field_text(bson::View files_document, std::string_view field) {
  if (field == "id") return text_of(files_document["_id"]);
  if (field == "metadata") return metadata_text(files_document);
  const bool known = std::find(kRootFields.begin(), kRootFields.end(), field) != kRootFields.end();
  const std::optional<bson::ValueView> value =
      known ? files_document.find(field) : std::optional<bson::ValueView>();
  if (!value) return std::nullopt;
  return text_of(*value);
}

Result<bson::Document> field_update(bson::View files_document, std::string_view field,
                                    std::optional<std::string_view> text) {
  if (field == "metadata") return metadata_update(files_document, text);
  if (field != "contentType") {
    return fail(kFieldNotWritable, "the field '" + std::string(field) +
                                       "' of a files document cannot be set; contentType and "
                                       "metadata can");
  }
  if (text && !bson_utf8_validate(text->data(), text->size(), false)) {
    return fail(ErrorCode::kBadValue, "contentType must be UTF-8 text");
  }
  bson::Builder update;
  if (text) {
    update.open_document("$set").append(field, *text).close();
  } else {
    update.open_document("$unset").append(field, "").close();
  }
  return std::move(update).finish();
}

}  // namespace gridmount::gridfs
