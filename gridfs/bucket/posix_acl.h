// POSIX access control lists as extended attributes hold them, and their relation to a mode.
//
// Source: acl(5), POSIX.1e draft 17. The encoding is Linux's (posix_acl_xattr.h): little-endian, a
// version of 4 bytes, which is 2, and entries of tag (2), permissions (2) and id (4).
//
// Not thread-safe. Plain values.
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
  // Fails with BadValue if the bytes are not a valid list: entries missing, twice or out of order.
  static Result<PosixAcl> parse(std::string_view bytes);
  std::string bytes() const;

  // Returns true if a mode can express the whole list.
  bool is_minimal() const { return entries_.size() == kMinimalEntries; }
  // Returns the bits 0777 of a mode. The group bits are the mask, if there is one.
  uint32_t mode_bits() const;
  // Changes the list as chmod(2) does.
  void set_mode_bits(uint32_t mode);
  // For the list that a new node inherits: removes the permissions that the requested mode lacks.
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
