// POSIX access control lists, as extended attributes hold them, and what a mode has to do with
// them.
//
// Source: acl(5), POSIX.1e draft 17; the encoding is Linux's (posix_acl_xattr.h): little-endian,
// a version of 4 bytes, 2, and entries of tag (2), permissions (2) and id (4).
//
// Thread-safety: pure values.
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
  // BadValue if the bytes are none: entries missing, twice or out of order.
  static Result<PosixAcl> parse(std::string_view bytes);
  std::string bytes() const;

  // Whether the mode says all of it.
  bool is_minimal() const { return entries_.size() == kMinimalEntries; }
  // The bits 0777 of a mode: the group's are the mask, if there is one.
  uint32_t mode_bits() const;
  // As chmod(2) does.
  void set_mode_bits(uint32_t mode);
  // Of the list that a new node inherits: takes away what the mode asked for does not have.
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
  struct Entry {
    uint16_t tag;
    uint16_t permissions;
    uint32_t id;
  };
  static constexpr size_t kMinimalEntries = 3;

  Entry* find(Tag tag);
  const Entry* find(Tag tag) const { return const_cast<PosixAcl*>(this)->find(tag); }
  // The entry that a mode's group bits are.
  Entry* group_class();

  std::vector<Entry> entries_;
};

}  // namespace gridmount::gridfs
