// Entity tags (ETag): names for the content that a file has at one time. Source: RFC 9110, 8.8.3.
//
// The tag of a file consists of the _id, the uploadDate and the length in its files document. If
// the _id is not an ObjectId, the tag has a hash of the _id. The server sends the tag as a strong
// tag, because the tag changes whenever the content of the file changes:
// - A driver does not change the content of a file: each upload makes a files document with an _id
//   of its own.
// - A mount changes the content of a file, but each commit of content gets an uploadDate that is at
//   least a millisecond later than the one before (OpenFile::next_upload_date()).
//
// There are three exceptions:
// - A driver changes a chunk, but not the files document. GridFS has no such operation.
// - A mount that keeps revisions commits content to an earlier revision. The uploadDate stays if a
//   later one would reach that of the newest revision (keep_revision_order()).
// - A driver makes two _ids with the same hash on purpose.
//
// The tag stays the same when attributes change (chmod, rename, utimes) or when an md5 is added
// later. Two files with the same bytes have different tags.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "gridfs/bucket/files_document.h"

namespace gridmount::http {

// Returns the tag with its quotes.
std::string entity_tag(const gridfs::FilesDocument& file);

// How has_tag() compares a weak tag (W/"...") in the list. kStrong: it never matches. kWeak: it is
// compared without the W/.
enum class TagComparison { kStrong, kWeak };
// Returns true if the list of tags in a field has the strong tag `tag`, or is "*".
bool has_tag(std::string_view list, std::string_view tag, TagComparison comparison);

}  // namespace gridmount::http
