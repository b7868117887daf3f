#include "engine/local/format/record_patches.h"

#include <algorithm>

#include "engine/local/format/raw_number.h"

namespace gridmount::local {
namespace {

constexpr size_t kOffsetBytes = 4;
constexpr size_t kPatchKeyBytes = kRecordKeyBytes + kOffsetBytes;
constexpr size_t kPatchListKeyBytes = kRecordKeyBytes + 1;
constexpr size_t kListHeaderBytes = 8;

// A document may have one patch for each kBytesPerPatch of its size. So at most a quarter of the
// document is in patches.
constexpr uint32_t kBytesPerPatch = 16 * 1024;
constexpr size_t kPatchesMax = 64;

}  // namespace

size_t patches_max(uint32_t document_bytes) {
  return std::min<size_t>(document_bytes / kBytesPerPatch, kPatchesMax);
}

std::string patch_key(const RecordKey& record, uint32_t offset) {
  std::string key(record.view());
  append_big_endian_32(key, offset);
  return key;
}

std::string patch_list_key(const RecordKey& record) {
  return std::string(record.view()) + '\0';
}

bool is_patch_key(std::string_view key) {
  return key.size() == kPatchKeyBytes;
}

bool is_patch_list_key(std::string_view key) {
  return key.size() == kPatchListKeyBytes && key.back() == '\0';
}

std::string_view record_key_of_patch(std::string_view key) {
  return key.substr(0, kRecordKeyBytes);
}

std::string patch_list_value(const PatchList& list, uint32_t tree, std::string_view key) {
  std::string value;
  append_big_endian_32(value, list.document_bytes);
  append_big_endian_32(value, list.length_at);
  for (const uint32_t offset : list.offsets) append_big_endian_32(value, offset);
  append_entry_checksum(value, tree, key);
  return value;
}

std::string patch_value(std::string_view bytes, uint32_t tree, std::string_view key) {
  std::string value(bytes);
  append_entry_checksum(value, tree, key);
  return value;
}

std::optional<PatchList> parse_patch_list(uint32_t tree, std::string_view key,
                                          std::string_view value) {
  if (value.size() < kListHeaderBytes + kEntryChecksumBytes ||
      value.size() > kListHeaderBytes + kPatchesMax * kOffsetBytes + kEntryChecksumBytes ||
      value.size() % kOffsetBytes != 0 || !has_entry_checksum(tree, key, value)) {
    return std::nullopt;
  }
  value.remove_suffix(kEntryChecksumBytes);
  PatchList list;
  list.document_bytes = big_endian_32(value);
  list.length_at = big_endian_32(value.substr(4));
  for (value.remove_prefix(kListHeaderBytes); !value.empty(); value.remove_prefix(kOffsetBytes)) {
    list.offsets.push_back(big_endian_32(value));
  }
  return list;
}

std::optional<std::string_view> parse_patch(uint32_t tree, std::string_view key,
                                            std::string_view value) {
  if (value.size() > kPatchValueBytesMax || !has_entry_checksum(tree, key, value)) {
    return std::nullopt;
  }
  return value.substr(0, value.size() - kEntryChecksumBytes);
}

}  // namespace gridmount::local
