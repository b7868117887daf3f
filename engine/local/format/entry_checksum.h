// Checksums by which an entry of a tree tells that it is what was put there: over the number of the
// tree, the key and the value, so that none can be another's. FORMAT.md, chapters "Records" and
// "Index keys".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gridmount::local {

inline constexpr size_t kEntryChecksumBytes = 4;

// In place of a position: the catalog's tree.
inline constexpr uint32_t kCatalogTree = UINT32_MAX;

// `tree` is a position in TreeHandles::ranges.
void append_entry_checksum(std::string& value, uint32_t tree, std::string_view key);
// Whether the value ends with the checksum of all else.
bool has_entry_checksum(uint32_t tree, std::string_view key, std::string_view value);

// Of a record's key, which is not under the checksum of the document: 24 bits.
uint32_t key_checksum(uint32_t tree, std::string_view key);

}  // namespace gridmount::local
