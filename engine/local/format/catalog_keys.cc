#include "engine/local/format/catalog_keys.h"

#include "engine/local/format/collection_metadata.h"

namespace gridmount::local {

bool is_sound_catalog_entry(size_t trees, const TreeEntry& entry) {
  const std::string_view key = entry.key;
  if (key.empty()) return false;
  const size_t end = key.find('\0');
  switch (key[0]) {
    case kCollectionKey:
      return end != std::string_view::npos &&
             CollectionMetadata::is_metadata_of(
                 {std::string(key.substr(1, end - 1)), std::string(key.substr(end + 1))},
                 entry.value);
    case kCountsKey:
      return key.size() == kPrefixKeyBytes && is_sound_value(key, entry.value, kCountsBytes);
    case kReleasedKey:
      return key.size() == kPrefixKeyBytes && is_sound_value(key, entry.value, kReleasedBytes);
    case kExpiringKey:
      return end != std::string_view::npos && entry.value.empty();
    case kAllocationKey:
      return key.size() == 1 && is_sound_value(key, entry.value, allocation_bytes(trees));
    default:
      return false;
  }
}

}  // namespace gridmount::local
