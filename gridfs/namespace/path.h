// Names in the mount and filenames in GridFS: a reversible mapping.
//
// Inside a bucket a file's path is its `filename`, whose components '/' divides. Slashes at the
// beginning belong to the first component ("/a/b" is "b" in "/a"), as the empty path is the
// bucket's root. Names that no path can have are escaped component by component; NAMESPACE.md holds
// the rules with examples. A component is escaped only if it must be:
//   %gridfs:esc:TEXT    an empty component, ".", "..", one with a NUL, leading slashes or bytes
//                       that are not UTF-8, ".gridfs" at the root of the bucket, or one that itself
//                       begins with "%gridfs:". In TEXT the bytes '%', '/', NUL, those that are not
//                       UTF-8, and the dots of "." and ".." are %XX, digits in upper case.
//   %gridfs:file:TEXT   a file whose name is also a folder's (the folder keeps the plain name).
//   %gridfs:long:TEXT:HASH  a component that would be shown with over 255 bytes: its first bytes
//                       (whole characters) and the first 32 hexadecimal digits of the SHA-256 of
//                       all of it; found again by looking for names that begin so. Of a file whose
//                       name is also a folder's, HASH is that of the component and a '/'.
//   %gridfs:id:TEXT     at the root: a file without a string filename, by its _id in canonical
//                       Extended JSON.
// And the other way round, as a filename is a string: a name in the mount that is not UTF-8 is
// `%gridfs:bytes:TEXT` in the filename, and such a component is shown as those bytes.
// Thread-safety: pure functions.
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
// One call of the kernel names up to 4,095 bytes, from whatever folder it begins in.
inline constexpr size_t kMaxPathBytes = 32'767;

// The name shown for one component of a filename. `at_root`: it is the first component.
std::string escape_component(std::string_view component, bool at_root);
// The same for a file beside a folder of that name.
std::string escape_shadowed_file(std::string_view component);
// The name of a file without a string filename, or nothing if its _id is too long for a name: such
// a file is not shown.
std::optional<std::string> escape_id(bson::ValueView id);

// The name of a files document in a folder of all of them: the digits of an ObjectId, else the _id
// as in escape_id(). Nothing if it is too long for a name.
std::optional<std::string> id_name(bson::ValueView id);
// The reverse. InvalidName for what id_name() would not have made.
Result<bson::Value> parse_id_name(std::string_view name);
// What an _id is that is written in Extended JSON; nothing if the text is something else.
std::optional<bson::Value> id_from_json(std::string_view json);

struct ParsedName {
  enum class Kind { kPlain, kLong, kFile, kId };
  Kind kind = Kind::kPlain;
  // kPlain: the component of the filename. kFile: that of the file. kLong: its beginning. kId: the
  // _id as JSON.
  std::string component;
  std::string hash;  // kLong
};
// The reverse. NameTooLong over 255 bytes; InvalidName for ".gridfs" at the root, or for
// an escape that the functions above would not have made.
Result<ParsedName> parse_name(std::string_view name, bool at_root);

enum class LongNameFit { kNone, kPlain, kShadowedFile };
// Whether the kLong name is the one that is made for the component.
LongNameFit fits_long_name(const ParsedName& name, std::string_view component);

// "a/b" and "c" make "a/b/c"; an empty folder is the root of the bucket.
std::string join(std::string_view folder, std::string_view component);

struct SplitPath {
  std::string_view folder;
  std::string_view component;
};
// The reverse: where a file or folder of that path is, and its component there. Not for the root.
SplitPath split(std::string_view path);

// Whether a folder can have the path. Slashes alone are one component, but names that continue them
// belong to another: "//x" is not below "/". The empty path is the root's.
bool can_be_folder(std::string_view path);

// The first component of `rest`, what follows a folder's path and slash in a filename.
std::string_view first_component(std::string_view rest, bool at_root);

}  // namespace gridmount::gridfs
