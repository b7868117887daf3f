// Entity tags (ETag): names of the contents of files. Source: RFC 9110, 8.8.3.
//
// The tag of a file is made of the _id, the uploadDate and the length in its files document. It is
// strong, because two contents never have one tag:
// - GridFS never changes a content in place: an upload is a files document with an _id of its own.
// - A mount does change contents in place, but each commit of content gets an uploadDate later than
//   the one before, in milliseconds (rule F3 in gridfs/content/file.h).
// - A chunk that somebody changes without changing the files document is not seen. GridFS has
//   no such operation.
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

// kStrong: weak tags (W/"...") in the list match nothing.
enum class TagComparison { kStrong, kWeak };
// Returns true if the list of tags in a field has the strong tag `tag`, or is "*".
bool has_tag(std::string_view list, std::string_view tag, TagComparison comparison);

}  // namespace gridmount::http
