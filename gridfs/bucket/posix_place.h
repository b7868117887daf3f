// The place in a files document where a mount keeps what GridFS has none for: `metadata.posix`, and
// other fields of `metadata`. Drivers may have written something there that is no document:
//  - null counts as missing (old drivers wrote it where there was no metadata);
//  - anything else, a string say, moves to the field `value` of a document in its place when
//    something has to be kept there, so that nothing of it is lost.
//
// Thread-safety: pure functions, and one within the caller's transaction.
#pragma once

#include <optional>

#include "engine/bson/document.h"
#include "engine/store.h"

namespace gridmount::gridfs {

// Whether `metadata.posix.*` can be set without moving what others have written.
bool takes_posix_fields(bson::View files_document);

// The update after which it can be set; nothing where it can be as it is.
std::optional<bson::Document> making_place(bson::View files_document);

// Updates the document of that _id, in `files` or `detached`, by an update that sets fields of
// `metadata`; makes place for them first, if there is none.
Result<engine::UpdateResult> update_file(engine::Collection& collection,
                                         engine::Transaction& transaction, bson::ValueView id,
                                         bson::View update);

}  // namespace gridmount::gridfs
