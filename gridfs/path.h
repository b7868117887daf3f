// Names in the mount and filenames in GridFS: a reversible mapping.
//
// Inside a bucket a file's path is its `filename`. Names that no path can have are escaped
// component by component; NAMESPACE.md holds the rules with examples. A component is escaped only
// if it must be:
//   %gridfs:esc:TEXT    an empty component, ".", "..", one with NUL, ".gridfs" at the root of the
//   bucket, or
//                       one that itself begins with "%gridfs:"; in TEXT the bytes '%', '/', NUL and
//                       the dots of
//                       "." and ".." are %XX
//   %gridfs:long:HEAD:HASH  a component over 255 bytes: its first bytes (whole characters) and the
//   first 32
//                       hexadecimal digits of its SHA-256; found again by looking for names
//                       beginning with HEAD
//   %gridfs:file:NAME   a file whose name is also a folder's (the folder keeps the plain name)
//   %gridfs:id:JSON     at the root: a file without a string filename, by its _id in canonical
//   Extended JSON,
//                       escaped as TEXT above
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "engine/error.h"

namespace gridmount::gridfs {

inline constexpr std::string_view kEscapeLead = "%gridfs:";
inline constexpr size_t kMaxNameBytes = 255;
inline constexpr size_t kMaxPathBytes = 4095;

// The name shown for one component of a filename. `at_root`: it is the first component.
std::string escape_component(std::string_view component, bool at_root);

struct ParsedName {
  enum class Kind { kPlain, kLong, kFile, kId };
  Kind kind = Kind::kPlain;
  std::string component;  // kPlain: the component of the filename; kFile: that of the file; kLong:
                          // HEAD; kId: JSON
  std::string hash;       // kLong
};
// The reverse. NameTooLong over 255 bytes; InvalidName for text that is not valid UTF-8 or an
// escape that escape_component() would not have made.
Result<ParsedName> parse_name(std::string_view name, bool at_root);

// "a/b" and "c" make "a/b/c"; an empty folder is the root of the bucket.
std::string join(std::string_view folder, std::string_view component);

}  // namespace gridmount::gridfs
