// POSIX access control lists in the form of extended attributes, and their relation to a mode.
//
// Source: acl(5), POSIX.1e draft 17. The encoding is Linux's (posix_acl_xattr.h): little-endian
// numbers; first the version 2 in 4 bytes, then one entry after the other: tag (2 bytes),
// permissions (2 bytes) and id (4 bytes).
//
// PosixAcl is a plain value, so not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::gridfs {

inline constexpr std::string_view kAccessAcl = "system.posix_acl_access";
inline constexpr std::string_view kDefaultAcl = "system.posix_acl_default";

class PosixAcl {
 public:
  // Fails with BadValue if the bytes are not a valid list, for example if a required entry is
  // missing or the entries are out of order.
  static Result<PosixAcl> parse(std::string_view bytes);
  std::string bytes() const;

  // Returns true if a mode can express the whole list.
  bool is_minimal() const { return entries_.size() == kMinimalEntries; }
  // Returns the bits 0777 of the mode that belongs to the list. The group bits come from the mask,
  // if the list has one.
  uint32_t mode_bits() const;
  // Changes the list as chmod(2) does.
  void set_mode_bits(uint32_t mode);
  // Removes the permissions that `mode` lacks. `mode` is the mode that a program requests for a new
  // node, and this object is the list that the node inherits.
  void restrict_to(uint32_t mode);

 private:
  enum Tag : uint16_t {
    kUserObj = 0x01,
    kUser = 0x02,
    kGroupObj = 0x04,
    kGroup = 0x08,
    kMask = 0x10,
    kOther = 0x20,
  };
  struct AclEntry {
    uint16_t tag;
    uint16_t permissions;
    uint32_t id;
  };
  static constexpr size_t kMinimalEntries = 3;

  AclEntry* find(Tag tag);
  const AclEntry* find(Tag tag) const { return const_cast<PosixAcl*>(this)->find(tag); }
  // Returns the entry that corresponds to a mode's group bits.
  AclEntry* group_class();

  std::vector<AclEntry> entries_;
};

}  // namespace gridmount::gridfs
