// Maps filenames in GridFS to names in the mount, and back.
//
// Inside a bucket a file's path is its `filename`, divided into components at '/'. Slashes at the
// beginning belong to the first component ("/a/b" is "b" in "/a"), because the empty path is the
// bucket's root. A component that cannot be a name in the mount is escaped. NAMESPACE.md has the
// rules with examples. The escapes are:
// - %gridfs:esc:TEXT: an empty component, ".", "..", a component with a NUL, leading slashes or
//   bytes that are not UTF-8, ".gridfs" at the root of the bucket, or a component that itself
//   begins with "%gridfs:". TEXT is the component. In TEXT, these bytes are written as %XX (digits
//   in upper case): '%', '/', NUL, bytes that are not UTF-8, and the dots of "." and "..".
// - %gridfs:file:TEXT: a file that has the same path as a directory. The directory keeps the plain
//   name.
// - %gridfs:long:TEXT:HASH: a component that would have more than 255 bytes as a name in the mount.
//   TEXT is the beginning of the component, cut between two characters and escaped as above. HASH
//   is the first 32 hexadecimal digits of the SHA-256 of the whole component. A look-up searches
//   the components that begin with TEXT. For a file that has the same path as a directory, HASH is
//   computed from the component and a '/'.
// - %gridfs:id:TEXT: at the root, a file whose files document has no filename, or a filename that
//   is not a string. TEXT is the _id of the file in canonical Extended JSON.
//
// The reverse direction needs one escape, because a filename must be UTF-8: if a program makes a
// name that is not UTF-8, the component of the filename is `%gridfs:bytes:TEXT`. The mount shows
// the original bytes for such a component.
//
// Pure functions, so thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::gridfs {

inline constexpr std::string_view kEscapeLead = "%gridfs:";
inline constexpr size_t kMaxNameBytes = 255;
// The path in one system call has at most 4,095 bytes, but it may begin at any directory, so the
// whole path of a file can be longer.
inline constexpr size_t kMaxPathBytes = 32'767;

// Returns the name that the mount shows for a component of a filename. `at_root` says whether this
// is the first component.
std::string escape_component(std::string_view component, bool at_root);
// Returns the name that the mount shows for a file that has the same path as a directory.
std::string escape_shadowed_file(std::string_view component);
// Returns the name that the mount shows for a file without a string filename. Returns nothing if
// the _id is too long for a name. The mount does not list such a file.
std::optional<std::string> escape_id(bson::ValueView id);

// Returns the name of a file in the listing of all files by _id (PathNamespace::list_ids()): the
// digits of an ObjectId, or the TEXT that escape_id() makes of another _id. Returns nothing if
// escape_id() does.
std::optional<std::string> id_name(bson::ValueView id);
// Returns the _id for which id_name() returns `name`. If there is none, fails with InvalidName, or
// with NameTooLong if `name` is too long.
Result<bson::Value> parse_id_name(std::string_view name);
// Parses an _id written in Extended JSON. Returns nothing if the text cannot be parsed.
std::optional<bson::Value> id_from_json(std::string_view json);

struct ParsedName {
  enum class Kind { kPlain, kLong, kFile, kId };
  Kind kind = Kind::kPlain;
  // kPlain and kFile: the component of the filename. kLong: the first bytes of the component. kId:
  // the _id as JSON.
  std::string component;
  std::string hash;  // kLong
};
// Does the reverse of the escape functions. Fails with NameTooLong if the name has more than 255
// bytes. Fails with InvalidName for "", ".", "..", a name with a slash or a NUL, ".gridfs" at the
// root, and an escape that the functions above do not return. For kLong and kId, checks only the
// form of TEXT. The look-up of the file must check the rest.
Result<ParsedName> parse_name(std::string_view name, bool at_root);

enum class LongNameFit { kNone, kPlain, kShadowedFile };
// Returns whether the kLong name was made for the component, and if so, for which kind of node:
// kPlain for a directory or a file, kShadowedFile for a file that has the same path as a directory.
LongNameFit fits_long_name(const ParsedName& name, std::string_view component);

// "a/b" and "c" make "a/b/c". An empty first argument is the root of the bucket.
std::string join(std::string_view directory, std::string_view component);

struct SplitPath {
  std::string_view directory;
  std::string_view component;
};
// Does the reverse of join(): returns the parent directory of `path`, and the last component of
// `path`. `path` must not be the root.
SplitPath split(std::string_view path);

// Returns the path of a new child that the mount shows as `name`. Fails as parse_name() does. Also
// fails with InvalidName for a name of the kinds kLong, kFile and kId, and with NameTooLong if the
// path is longer than kMaxPathBytes.
Result<std::string> path_of_new_child(std::string_view directory, std::string_view name);

// Returns true if a directory can have the path. No directory has a path that consists only of
// slashes: "//x" is one component, not "x" in "/". The empty path is the path of the root.
bool can_be_directory(std::string_view path);

// Returns the first component of `rest`. `rest` must be the part of a filename after the path of a
// directory and a slash, or the whole filename if `at_root` is true.
std::string_view first_component(std::string_view rest, bool at_root);

}  // namespace gridmount::gridfs
