// Earlier contents of a file: files documents of one filename, of which the newest is the file.
//
// Thread-safety: pure functions.
#pragma once

#include <vector>

#include "engine/bson/document.h"
#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

// Whether it is of a plain file: others have no content to keep.
bool is_plain_file(bson::View files_document);
// Whether it is, with something in it.
bool has_content(bson::View files_document);

// What orders revisions; the beginning of time if the document does not say it as a date.
bson::Date upload_date_of(bson::View files_document);
// Whether another can be made the newer one: not where a driver has written what sorts behind all
// dates, or one that none follows.
bool can_be_superseded(bson::View files_document);

// A date behind that of the document, now at the earliest, so that what gets it is newer.
bson::Date date_after(bson::View files_document);

// The files document that goes on where `old` stops: empty, with another _id, of that date, and
// with all other fields `old` has. `md5` is that of nothing, if it is to have one.
bson::Document continued(bson::View old, const bson::Value& id, bson::Date date,
                         const std::optional<std::string>& md5);

// Keeps the order of revisions where the file of that _id is committed with `upload_date`: makes
// the date later than the one that the files document has, and, if the file is an earlier revision
// by now, earlier than that of the newest. Runs in the commit's transaction. Changes nothing if
// there is no such file in `files`, or it has no name.
Status keep_revision_order(const Bucket& bucket, engine::Transaction& transaction,
                           const bson::Value& id, bson::Date& upload_date);

}  // namespace gridmount::gridfs
