// Maps filenames in GridFS to names in the mount, and back.
//
// Inside a bucket a file's path is its `filename`, divided into components at '/'. Slashes at the
// beginning belong to the first component ("/a/b" is "b" in "/a"), because the empty path is the
// bucket's root. Names that no path can have are escaped component by component. NAMESPACE.md
// holds the rules with examples. A component is escaped only if it must be:
// - %gridfs:esc:TEXT: an empty component, ".", "..", a component with a NUL, leading slashes or
//   bytes that are not UTF-8, ".gridfs" at the root of the bucket, or a component that itself
//   begins with "%gridfs:". TEXT has these bytes as %XX, with digits in upper case: '%', '/' and
//   NUL, bytes that are not UTF-8, and the dots of "." and "..".
// - %gridfs:file:TEXT: a file whose name is also a directory's. The directory keeps the plain name.
// - %gridfs:long:TEXT:HASH: a component that would be shown with over 255 bytes. TEXT is its first
//   bytes (whole characters), HASH the first 32 hexadecimal digits of the SHA-256 of the whole
//   component. A look-up searches the names that begin with TEXT. For a file whose name is also a
//   directory's, HASH is that of the component and a '/'.
// - %gridfs:id:TEXT: at the root, a file without a string filename. TEXT is its _id in canonical
//   Extended JSON.
//
// The reverse direction needs one escape, because a filename is a string: a name in the mount that
// is not UTF-8 is `%gridfs:bytes:TEXT` in the filename. Such a component is shown as those bytes.
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
// A path in one system call has at most 4,095 bytes, but it may start at any directory, so paths
// can be longer.
inline constexpr size_t kMaxPathBytes = 32'767;

// Returns the name shown for one component of a filename. `at_root`: it is the first component.
std::string escape_component(std::string_view component, bool at_root);
// Returns the name shown for a file beside a directory of the same name.
std::string escape_shadowed_file(std::string_view component);
// Returns the name of a file without a string filename, or nothing if its _id is too long for a
// name. Such a file is not shown.
std::optional<std::string> escape_id(bson::ValueView id);

// Returns the name of a file in the directory that lists all files by _id: the digits of an
// ObjectId, or the _id as in escape_id(). Returns nothing if the result would be too long for a
// name.
std::optional<std::string> id_name(bson::ValueView id);
// Does the reverse of id_name(). Fails with NameTooLong or InvalidName for names that id_name()
// does not return.
Result<bson::Value> parse_id_name(std::string_view name);
// Parses an _id written in Extended JSON. Returns nothing if the text is something else.
std::optional<bson::Value> id_from_json(std::string_view json);

struct ParsedName {
  enum class Kind { kPlain, kLong, kFile, kId };
  Kind kind = Kind::kPlain;
  // kPlain: the component of the filename. kFile: the component of the file's filename. kLong: the
  // first bytes of the component. kId: the _id as JSON.
  std::string component;
  std::string hash;  // kLong
};
// Does the reverse of the escape functions. Fails with NameTooLong over 255 bytes. Fails with
// InvalidName for "", ".", "..", a name with a slash or a NUL, ".gridfs" at the root, and an escape
// that the functions above do not return.
Result<ParsedName> parse_name(std::string_view name, bool at_root);

enum class LongNameFit { kNone, kPlain, kShadowedFile };
// Returns whether the kLong name was made for the component, and if so, for which kind of node:
// kPlain for a directory or a file, kShadowedFile for a file whose name is also a directory's.
LongNameFit fits_long_name(const ParsedName& name, std::string_view component);

// "a/b" and "c" make "a/b/c". An empty first argument is the root of the bucket.
std::string join(std::string_view directory, std::string_view component);

struct SplitPath {
  std::string_view directory;
  std::string_view component;
};
// Does the reverse of join(): returns the parent directory of that path, and the component in it.
// `path` must not be the root's.
SplitPath split(std::string_view path);

// Returns the path of a new child that the mount shows as `name`. Fails as parse_name() does, with
// InvalidName for the forms of names that only the mapping itself makes, and with NameTooLong if
// the path is longer than kMaxPathBytes.
Result<std::string> path_of_new_child(std::string_view directory, std::string_view name);

// Returns true if a directory can have the path. A path of slashes only cannot: "//x" is one
// component, not "x" in "/". The empty path is the root's.
bool can_be_directory(std::string_view path);

// Returns the first component of `rest`, the part of a filename after a directory's path and
// slash.
std::string_view first_component(std::string_view rest, bool at_root);

}  // namespace gridmount::gridfs
