// The checksum of one entry of a tree. It covers the number of the tree, the key and the value, so
// that an entry cannot be taken for another one. FORMAT.md, chapters "Records" and "Index keys".
//
// Thread-safety: functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gridmount::local {

inline constexpr size_t kEntryChecksumBytes = 4;

// The number of the catalog's tree, which has no position in TreeHandles::keyspaces.
inline constexpr uint32_t kCatalogTree = UINT32_MAX;

// Appends the checksum to a value that is otherwise complete. In all functions, `tree` is a
// position in TreeHandles::keyspaces, or kCatalogTree.
void append_entry_checksum(std::string& value, uint32_t tree, std::string_view key);
// Returns whether the value ends with the checksum of the tree, the key and the rest of the value.
bool has_entry_checksum(uint32_t tree, std::string_view key, std::string_view value);

// Returns 24 bits of checksum over the tree and a record's key. The checksum of the record's
// document does not cover the key.
uint32_t key_checksum(uint32_t tree, std::string_view key);

}  // namespace gridmount::local
