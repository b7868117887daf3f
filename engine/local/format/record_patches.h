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

// The most bytes of a document that one patch has.
inline constexpr size_t kPatchBytesMax = 4096;
inline constexpr size_t kPatchValueBytesMax = kPatchBytesMax + kEntryChecksumBytes;

// Only a document of at least this size has patches. A smaller one is written anew.
inline constexpr uint32_t kPatchableBytesMin = 32 * 1024;

// Returns the most patches that a document of this size has. Beyond it the record is written anew,
// so that a read of the whole document costs little more than without patches.
size_t patches_max(uint32_t document_bytes);

// The key of a patch: that of its record, and the patch's place in the document.
std::string patch_key(const RecordKey& record, uint32_t offset);
// The key of the list of a record's patches, which comes before the patches.
std::string patch_list_key(const RecordKey& record);
// Returns whether the key has the size of a patch's or of a list's. Both begin with the key of the
// record.
bool is_patch_key(std::string_view key);
bool is_patch_list_key(std::string_view key);
inline bool is_of_patches(std::string_view key) {
  return is_patch_key(key) || is_patch_list_key(key);
}
// Returns the key of the record to which a key of either form belongs.
std::string_view record_key_of_patch(std::string_view key);

// The list of a record's patches. Every record of the kind kPatchableRecord has one.
struct PatchList {
  uint32_t document_bytes = 0;    // with all patches; at least the size in the record
  uint32_t length_at = 0;         // where the document has the length of the patched Binary
  std::vector<uint32_t> offsets;  // of the patches, ascending
};

// Both return the value of an entry, with the entry's checksum. `tree` is a position in
// TreeHandles::keyspaces.
std::string patch_list_value(const PatchList& list, uint32_t tree, std::string_view key);
std::string patch_value(std::string_view bytes, uint32_t tree, std::string_view key);

// Parses the value of a list. Returns nothing if the entry's checksum or its form is wrong.
std::optional<PatchList> parse_patch_list(uint32_t tree, std::string_view key,
                                          std::string_view value);
// Returns the bytes of a patch, which are a part of `value`, or nothing if the checksum is wrong.
std::optional<std::string_view> parse_patch(uint32_t tree, std::string_view key,
                                            std::string_view value);

}  // namespace gridmount::local
