#include "gridfs/bucket/posix_acl.h"

#include <algorithm>
#include <bit>

namespace gridmount::gridfs {
namespace {

constexpr uint32_t kVersion = 2;
constexpr size_t kHeaderBytes = 4;
constexpr size_t kEntryBytes = 8;
constexpr uint16_t kAllPermissions = 7;
constexpr uint32_t kModeBits = 0777;

uint32_t read_little_endian(std::string_view bytes, size_t at, size_t size) {
  uint32_t value = 0;
  for (size_t i = size; i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[at + i - 1]);
  return value;
}

void append_little_endian(std::string& bytes, uint32_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

tl::unexpected<Error> invalid(const std::string& what) {
  return fail(ErrorCode::kBadValue, "invalid access control list: " + what);
}

}  // namespace

Result<PosixAcl> PosixAcl::parse(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || (bytes.size() - kHeaderBytes) % kEntryBytes != 0) {
    return invalid("it has " + std::to_string(bytes.size()) + " bytes");
  }
  if (const uint32_t version = read_little_endian(bytes, 0, kHeaderBytes); version != kVersion) {
    return invalid("its version is " + std::to_string(version));
  }
  PosixAcl acl;
  for (size_t at = kHeaderBytes; at < bytes.size(); at += kEntryBytes) {
    AclEntry entry{static_cast<uint16_t>(read_little_endian(bytes, at, 2)),
                   static_cast<uint16_t>(read_little_endian(bytes, at + 2, 2)),
                   read_little_endian(bytes, at + 4, 4)};
    if (entry.permissions > kAllPermissions) return invalid("an entry has permissions beyond rwx");
    const bool named = entry.tag == kUser || entry.tag == kGroup;
    if (!acl.entries_.empty()) {
      const AclEntry& before = acl.entries_.back();
      const bool ascends =
          before.tag < entry.tag || (named && before.tag == entry.tag && before.id < entry.id);
      if (!ascends) return invalid("its entries are not in ascending order");
    }
    acl.entries_.push_back(entry);
  }
  bool has_named = false;
  for (const AclEntry& entry : acl.entries_) {
    has_named = has_named || entry.tag == kUser || entry.tag == kGroup;
    constexpr uint16_t kTags = kUserObj | kUser | kGroupObj | kGroup | kMask | kOther;
    if ((entry.tag & ~kTags) != 0 || !std::has_single_bit(entry.tag)) {
      return invalid("an entry's tag is " + std::to_string(entry.tag));
    }
  }
  if (!acl.find(kUserObj) || !acl.find(kGroupObj) || !acl.find(kOther)) {
    return invalid("the entry of the owner, the group or others is missing");
  }
  if (has_named && !acl.find(kMask)) return invalid("the mask is missing");
  return acl;
}

std::string PosixAcl::bytes() const {
  std::string bytes;
  append_little_endian(bytes, kVersion, kHeaderBytes);
  for (const AclEntry& entry : entries_) {
    append_little_endian(bytes, entry.tag, 2);
    append_little_endian(bytes, entry.permissions, 2);
    append_little_endian(bytes, entry.id, 4);
  }
  return bytes;
}

PosixAcl::AclEntry* PosixAcl::find(Tag tag) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [tag](const AclEntry& entry) { return entry.tag == tag; });
  return found == entries_.end() ? nullptr : &*found;
}

PosixAcl::AclEntry* PosixAcl::group_class() {
  AclEntry* const mask = find(kMask);
  return mask != nullptr ? mask : find(kGroupObj);
}

uint32_t PosixAcl::mode_bits() const {
  const AclEntry* const group = const_cast<PosixAcl*>(this)->group_class();
  return static_cast<uint32_t>(find(kUserObj)->permissions << 6 | group->permissions << 3 |
                               find(kOther)->permissions);
}

void PosixAcl::set_mode_bits(uint32_t mode) {
  find(kUserObj)->permissions = mode >> 6 & kAllPermissions;
  group_class()->permissions = mode >> 3 & kAllPermissions;
  find(kOther)->permissions = mode & kAllPermissions;
}

void PosixAcl::restrict_to(uint32_t mode) {
  set_mode_bits(mode_bits() & mode & kModeBits);
}

}  // namespace gridmount::gridfs
