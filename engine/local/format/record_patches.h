// Writes and reads the patches of a record: the parts of its document that were overwritten after
// the record was written. See FORMAT.md, chapter "Patches".
//
// Thread-safety: pure functions and plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/local/format/entry_checksum.h"
#include "engine/local/format/keyspace.h"
#include "engine/local/format/record.h"

namespace gridmount::local {

// The largest number of bytes of a document that one patch may have.
inline constexpr size_t kPatchBytesMax = 4096;
inline constexpr size_t kPatchValueBytesMax = kPatchBytesMax + kEntryChecksumBytes;

// Only a document of at least this size may have patches. An overwrite of a smaller document writes
// the whole record anew.
inline constexpr uint32_t kPatchableBytesMin = 32 * 1024;

// Returns the largest number of patches that a document of this size may have. An overwrite that
// would need more patches writes the whole record anew. So a read of the whole document costs
// little more than without patches.
size_t patches_max(uint32_t document_bytes);

// Returns the key of a patch: the key of its record, and `offset`, the place of the patch in the
// document.
std::string patch_key(const RecordKey& record, uint32_t offset);
// Returns the key of the list of a record's patches. The list comes before the patches.
std::string patch_list_key(const RecordKey& record);
// Return whether the key has the form of a patch's key, or of a list's key. They check its size,
// and is_patch_list_key() also checks its last byte.
bool is_patch_key(std::string_view key);
bool is_patch_list_key(std::string_view key);
inline bool is_of_patches(std::string_view key) {
  return is_patch_key(key) || is_patch_list_key(key);
}
// Returns the record's key, with which the key of a patch or of a list begins.
std::string_view record_key_of_patch(std::string_view key);

// The list of a record's patches. Every record of the kind kPatchableRecord has one.
struct PatchList {
  uint32_t document_bytes = 0;    // with all patches; at least the size in the record
  uint32_t length_at = 0;         // the offset of the patched Binary's length; 0 without patches
  std::vector<uint32_t> offsets;  // of the patches, ascending
};

// Return the value of a list's entry and of a patch's entry, with the entry's checksum. `tree` is a
// position in TreeHandles::keyspaces.
std::string patch_list_value(const PatchList& list, uint32_t tree, std::string_view key);
std::string patch_value(std::string_view bytes, uint32_t tree, std::string_view key);

// Parses the value of a list. Returns nothing if the entry's checksum or its form is wrong.
std::optional<PatchList> parse_patch_list(uint32_t tree, std::string_view key,
                                          std::string_view value);
// Returns the bytes of a patch, as a view of `value`. Returns nothing if the entry's checksum is
// wrong, or if `value` is longer than kPatchValueBytesMax.
std::optional<std::string_view> parse_patch(uint32_t tree, std::string_view key,
                                            std::string_view value);

}  // namespace gridmount::local
