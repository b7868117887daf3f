// Entity tags (ETag): names for the content that a file has at one time. Source: RFC 9110, 8.8.3.
//
// The tag of a file is made of the _id, the uploadDate and the length in its files document. Unless
// the _id is an ObjectId, the tag has a hash of it. The tag is sent as a strong one, because the
// content of a file does not change without its tag:
// - A driver does not change the content of a file: each upload makes a files document with an _id
//   of its own.
// - A mount changes the content of a file, but each commit of content gets an uploadDate that is at
//   least a millisecond later than the one before (OpenFile::next_upload_date()).
//
// There are three exceptions:
// - Somebody changes a chunk and not the files document. GridFS has no such operation.
// - A mount that keeps revisions commits content to an earlier revision. The uploadDate stays if a
//   later one would reach that of the newest revision (keep_revision_order()).
// - Somebody makes two _ids with the same hash on purpose.
//
// A change of attributes (chmod, rename, utimes) keeps the tag, and so does an md5 that is added
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

// What a weak tag (W/"...") in the list matches. kStrong: nothing. kWeak: what it matches without
// the W/.
enum class TagComparison { kStrong, kWeak };
// Returns true if the list of tags in a field has the strong tag `tag`, or is "*".
bool has_tag(std::string_view list, std::string_view tag, TagComparison comparison);

}  // namespace gridmount::http
