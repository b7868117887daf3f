#include "engine/local/indexes/entry_reading.h"

#include <string>
#include <utility>

#include "engine/local/format/index_value.h"

namespace gridmount::local {
namespace {

constexpr size_t kPrefixBytes = 4;
constexpr size_t kRecordIdBytes = 8;

}  // namespace

Error damaged_entry(const CollectionMetadata& metadata, std::string_view where,
                    std::string_view how) {
  return Error(ErrorCode::kDataCorruptionDetected, metadata.ns.full() + ": " + std::string(where) +
                                                       " holds " + std::string(how) +
                                                       "; run 'gridstore check --repair'");
}

Result<RecordId> verified_record_id_of_entry(const CollectionMetadata& metadata,
                                             const IndexMetadata& index, const TreeEntry& found) {
  const std::optional<RecordId> id = record_id_of_entry(index, found);
  if (id && is_sound(index, found)) return *id;
  return fail(damaged_entry(
      metadata, "the index '" + index.definition.name + "'",
      id ? "an entry whose checksum does not match it" : "an entry of the wrong form"));
}

Error with_index_name(Error error, const CollectionMetadata& metadata, const IndexMetadata& index) {
  return std::move(error).with_context(metadata.ns.full() + ": the index '" +
                                       index.definition.name + "'");
}

Status prove_absent(const Trees& trees, const CollectionMetadata& metadata,
                    const IndexMetadata& index, std::string_view key) {
  if (!index.checksums) return {};
  Status proved = trees.prove_absent(trees.tree(index.keyspace), key);
  if (!proved) return fail(with_index_name(std::move(proved).error(), metadata, index));
  return {};
}

std::optional<RecordId> record_id_of_entry(const IndexMetadata& index, const TreeEntry& entry) {
  if (index.definition.unique) {
    if (entry.key.size() < kPrefixBytes || entry.value.size() < kRecordIdBytes) return std::nullopt;
    return big_endian_64(entry.value);
  }
  if (entry.key.size() < kPrefixBytes + kRecordIdBytes) return std::nullopt;
  return big_endian_64(entry.key.substr(entry.key.size() - kRecordIdBytes));
}

std::string_view encoded_values_of_entry(const IndexMetadata& index, std::string_view key) {
  key.remove_prefix(kPrefixBytes);
  if (!index.definition.unique) key.remove_suffix(kRecordIdBytes);
  return key;
}

}  // namespace gridmount::local
