// A files document's own fields as text, as a mount shows them in extended attributes.
//
// `id`, `length`, `chunkSize`, `uploadDate`, `md5`, `filename`, `contentType`, and `metadata`
// without what a mount itself keeps there (`posix`, `sparse`, `storedChunks`). A string is its own
// text, an ObjectId its 24 digits, all else relaxed Extended JSON.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::gridfs {

// Nothing if the document does not have it, or there is no such field.
std::optional<std::string> field_text(bson::View files_document, std::string_view field);

// The update that sets the field to `text`, or removes it: `contentType`, or `metadata` by a JSON
// document. FieldNotWritable for others, BadValue for what is no JSON document.
Result<bson::Document> field_update(bson::View files_document, std::string_view field,
                                    std::optional<std::string_view> text);

}  // namespace gridmount::gridfs
