// Extended attributes of a file or directory: their limits, their form in documents, and the
// changes of setxattr(2) and removexattr(2).
//
// A document has them as an array `xattrs` of {name, value}, beside the other fields of
// metadata.posix (NAMESPACE.md). Names and values are strings, or Binary if they are not UTF-8.
//
// An Xattrs object is a value and not thread-safe; its copies are independent. The functions have
// no state.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/builder.h"
#include "engine/bson/document.h"

namespace gridmount::gridfs {

// Values by name. A node may have thousands of attributes, and every read of the node's fields
// copies this object. So the strings are in one immutable block. Copies of the object share the
// block, and each change builds a new block.
class Xattrs {
 public:
  struct Attribute {
    std::string_view name;
    std::string_view value;
  };

  Xattrs() : Xattrs(std::vector<Attribute>()) {}
  // If a name comes several times, the last value counts. Copies the strings.
  explicit Xattrs(std::vector<Attribute> attributes);

  // Sorted by name. The views are valid while this object or a copy exists unchanged.
  const std::vector<Attribute>& attributes() const { return all_->attributes; }
  bool empty() const { return attributes().empty(); }
  size_t bytes() const { return all_->bytes.size(); }  // total size of all names and values
  std::optional<std::string_view> find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name).has_value(); }

  void set(std::string_view name, std::string_view value);
  // Does nothing if there is no attribute of that name.
  void erase(std::string_view name);

 private:
  struct All {
    std::string bytes;
    std::vector<Attribute> attributes;
  };
  std::shared_ptr<const All> all_;
};

// The maximum total size of all names and values of one file or directory. Linux limits a single
// value to 64 KiB.
inline constexpr size_t kMaxXattrsBytes = size_t{1} << 20;

// Appends the array under `key`, even if it is empty.
void append_xattrs(bson::Builder& builder, std::string_view key, const Xattrs& xattrs);
// Reads the array under `key`. Returns no attributes if the field is missing or not an array.
// Ignores invalid elements.
Xattrs read_xattrs(bson::View document, std::string_view key);

enum class XattrMode { kAny, kCreate, kReplace };  // like the flags of setxattr(2)

// Fails with EntryExists (kCreate, but the name exists), NoSuchXattr (kReplace, but the name does
// not exist), or NoRoomForXattrs (above kMaxXattrsBytes).
Status set_xattr(Xattrs& xattrs, std::string_view name, std::string_view value, XattrMode mode);
// Fails with NoSuchXattr if the name does not exist.
Status remove_xattr(Xattrs& xattrs, std::string_view name);

// Returns the error for a name that does not exist.
tl::unexpected<Error> no_such_xattr(std::string_view name);

}  // namespace gridmount::gridfs
