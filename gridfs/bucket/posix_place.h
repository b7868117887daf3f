// The place in a files document where a mount keeps fields that GridFS does not have:
// `metadata.posix`, and other fields of `metadata`. A driver may have stored a value that is not a
// document there:
// - null counts as missing (old drivers wrote it where there was no metadata);
// - any other value, such as a string, moves to the field `value` of a new document in its place
//   when the mount must store a field, so that nothing is lost.
//
// Pure functions, and one function within the caller's transaction. Thread-safe.
#pragma once

#include <optional>

#include "engine/bson/document.h"
#include "engine/store.h"

namespace gridmount::gridfs {

// Returns true if `metadata.posix.*` can be set without moving a value that others have written.
bool takes_posix_fields(bson::View files_document);

// Returns the update after which the fields can be set, or nothing if none is needed.
std::optional<bson::Document> making_place(bson::View files_document);

// Updates the document of that _id, in `files` or `detached`, by an update that sets fields of
// `metadata`. Makes place for them first if needed. If `upload_date` is given, a document with
// another one does not match.
Result<engine::UpdateResult> update_file(engine::Collection& collection,
                                         engine::Transaction& transaction, bson::ValueView id,
                                         bson::View update,
                                         std::optional<bson::Date> upload_date = {});

}  // namespace gridmount::gridfs
