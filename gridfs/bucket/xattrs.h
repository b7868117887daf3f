// Extended attributes of a file or folder: what they may be, how documents hold them, and the
// changes of setxattr(2) and removexattr(2).
//
// A document holds them as an array `xattrs` of {name: string, value: string or Binary}, beside the
// other fields of metadata.posix (NAMESPACE.md). Names are UTF-8 or kept as Binary, too.
//
// Thread-safety: Xattrs as a value; the rest pure functions.
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

// Values by names. There may be thousands, and each look at a node's fields has all of them: so
// they are in one piece, which copies share, and which each change makes anew.
class Xattrs {
 public:
  struct Attribute {
    std::string_view name;
    std::string_view value;
  };

  Xattrs() : Xattrs(std::vector<Attribute>()) {}
  // Of several of one name the last counts. They are copied.
  explicit Xattrs(std::vector<Attribute> attributes);

  // By name. Views into this object, and copies of it that have not been changed.
  const std::vector<Attribute>& attributes() const { return all_->attributes; }
  bool empty() const { return attributes().empty(); }
  size_t bytes() const { return all_->bytes.size(); }  // of all names and values
  std::optional<std::string_view> find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name).has_value(); }

  void set(std::string_view name, std::string_view value);
  void erase(std::string_view name);

 private:
  struct All {
    std::string bytes;
    std::vector<Attribute> attributes;
  };
  std::shared_ptr<const All> all_;
};

// All names and values of one file or folder. A single value has at most 64 KiB, which is Linux's
// own limit.
inline constexpr size_t kMaxXattrsBytes = size_t{1} << 20;

// Appends the array under `key`; of none, an empty one.
void append_xattrs(bson::Builder& builder, std::string_view key, const Xattrs& xattrs);
// What is no such array, or no such element of it, is passed over.
Xattrs read_xattrs(bson::View document, std::string_view key);

enum class XattrMode { kAny, kCreate, kReplace };  // as setxattr's flags

// EntryExists or NoSuchXattr as the mode says; NoRoomForXattrs above kMaxXattrsBytes.
Status set_xattr(Xattrs& xattrs, std::string_view name, std::string_view value, XattrMode mode);
// NoSuchXattr.
Status remove_xattr(Xattrs& xattrs, std::string_view name);

// The error for a name that is not there.
tl::unexpected<Error> no_such_xattr(std::string_view name);

}  // namespace gridmount::gridfs
