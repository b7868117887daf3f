// The place in a files document where a mount keeps fields that GridFS does not have:
// `metadata.posix`, and other fields of `metadata`. A driver may have stored a value that is not a
// document there:
// - null counts as missing (old drivers wrote it where there was no metadata);
// - any other value, such as a string, moves to the field `value` of a new document when the mount
//   must store a field. The new document replaces the value, so nothing is lost.
//
// Thread-safe: two functions are pure, and update_file() works within the caller's transaction.
#pragma once

#include <optional>

#include "engine/bson/document.h"
#include "engine/store.h"

namespace gridmount::gridfs {

// Returns true if `metadata.posix.*` can be set without moving a value that others have written.
bool accepts_posix_fields(bson::View files_document);

// Returns the update that moves the value of others, or removes a null. After this update the
// fields can be set. Returns nothing if no update is needed.
std::optional<bson::Document> update_to_make_place(bson::View files_document);

// Updates the document with that _id, in `files` or `detached`. `update` sets fields of `metadata`.
// If needed, first applies update_to_make_place(). If `upload_date` is given, a document with
// another uploadDate does not match, and the result then counts no match.
Result<engine::UpdateResult> update_file(engine::Collection& collection,
                                         engine::Transaction& transaction, bson::ValueView id,
                                         bson::View update,
                                         std::optional<bson::Date> upload_date = {});

}  // namespace gridmount::gridfs
