// Earlier contents of a file: the files documents of one filename. The newest of them is the file.
//
// Stateless, so thread-safe.
#pragma once

#include <vector>

#include "engine/bson/document.h"
#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

// Returns true if the document is of a regular file. Other files have no content to keep.
bool is_plain_file(bson::View files_document);
// Returns true if the document is of a regular file that is not empty.
bool has_content(bson::View files_document);

// Returns the uploadDate, which orders revisions, or 1970-01-01 if the field is not a date.
bson::Date upload_date_of(bson::View files_document);
// Returns true if another document can become newer than this one. Returns false if a driver has
// written an uploadDate of a type that sorts after all dates, or a date so late that no later one
// fits.
bool can_be_superseded(bson::View files_document);

// Returns a date that is later than the document's uploadDate and not earlier than now. A document
// that gets this date is the newer one. Must be called only if can_be_superseded() is true.
bson::Date date_after(bson::View files_document);

// Returns the files document that continues `old` as a new revision: empty, with another _id, with
// that date, and with all other fields of `old`. `md5` is the digest of no bytes, if the bucket
// keeps md5.
bson::Document continued(bson::View old, const bson::Value& id, bson::Date date,
                         const std::optional<std::string>& md5);

// Keeps the order of revisions when a commit gives the file `id` the uploadDate `upload_date`. If
// the file is the newest revision, makes this date later than the date in the document. If the file
// has become an earlier revision, sets this date one millisecond after the date in the document, or
// to that date if it would otherwise reach the newest revision's. Runs in the commit's transaction.
// Changes nothing if there is no such file in `files`, if it has no name, or if can_be_superseded()
// is false.
Status keep_revision_order(const Bucket& bucket, engine::Transaction& transaction,
                           const bson::Value& id, bson::Date& upload_date);

}  // namespace gridmount::gridfs
