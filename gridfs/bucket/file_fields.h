// The fields of a files document as text, as a mount shows them in extended attributes.
//
// The fields are `id`, `length`, `chunkSize`, `uploadDate`, `md5`, `filename`, `contentType`, and
// `metadata` without the fields that a mount keeps there (`posix`, `sparse`, `storedChunks`). A
// string is its own text, an ObjectId is its 24 digits, and every other value is relaxed Extended
// JSON.
//
// Pure functions, so thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::gridfs {

// Returns nothing if the document does not have the field, or if `field` is none of the fields
// above. `metadata` that is null or has only the fields of a mount counts as missing.
std::optional<std::string> field_text(bson::View files_document, std::string_view field);

// Returns the update that sets the field to `text`, or removes it if there is no text. Only
// `contentType` and `metadata` can be set. The text for `metadata` must be a JSON document. The
// fields that a mount keeps in `metadata` stay, and those in the given document are ignored. Fails
// with FieldNotWritable for other fields, with BadValue if the contentType is not UTF-8 or contains
// a NUL, and with FailedToParse if bson::document_from_json() refuses the text of the metadata.
Result<bson::Document> field_update(bson::View files_document, std::string_view field,
                                    std::optional<std::string_view> text);

}  // namespace gridmount::gridfs
