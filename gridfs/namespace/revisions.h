// The revisions of a file. All files documents of one filename belong to one file: the newest
// document describes the content of the file, and each other one describes an earlier content.
//
// Stateless, so thread-safe.
#pragma once

#include <vector>

#include "engine/bson/document.h"
#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

// Returns true if the document describes a regular file. Other files have no content to keep.
// Returns false if FilesDocument::parse() refuses the document.
bool is_plain_file(bson::View files_document);
// Returns true if is_plain_file() is true and the file is not empty.
bool has_content(bson::View files_document);

// Returns the uploadDate, which orders revisions, or 1970-01-01 if the field is not a date.
bson::Date upload_date_of(bson::View files_document);
// Returns true if another document can become newer than this one. Returns false if the uploadDate
// is not a date, or if it is so late that a later date might overflow.
bool can_be_superseded(bson::View files_document);

// Returns a date that is later than the document's uploadDate and not earlier than now. A document
// that gets this date is the newer one. If can_be_superseded() is false, there is no such date, and
// the function returns upload_date_of().
bson::Date date_after(bson::View files_document);

// Returns the files document of a new, empty revision: `old` with length 0, the _id `id` and the
// uploadDate `date`. Leaves out the fields that describe the old content: metadata.sparse,
// metadata.storedChunks and the allocated ranges in metadata.posix. If `old` has the field md5, its
// new value is `md5`, or the field is left out if `md5` is nullopt. `md5` must be the digest of no
// bytes, or nullopt if the bucket keeps no md5. Adds no field that `old` does not have.
bson::Document continued(bson::View old, const bson::Value& id, bson::Date date,
                         const std::optional<std::string>& md5);

// Keeps the order of revisions when a commit gives the file `id` the uploadDate `upload_date`. If
// the file is the newest revision, makes `upload_date` later than the document's uploadDate. If the
// file has become an earlier revision, sets `upload_date` one millisecond after the document's
// uploadDate. But if this date is not earlier than the newest revision's uploadDate, sets
// `upload_date` to the document's uploadDate. `transaction` must be the transaction of the commit.
// Changes nothing if `files` has no document with the _id `id`, if the document has no filename, or
// if can_be_superseded() is false. Fails with the errors of the transaction's reads.
Status keep_revision_order(const Bucket& bucket, engine::Transaction& transaction,
                           const bson::Value& id, bson::Date& upload_date);

}  // namespace gridmount::gridfs
