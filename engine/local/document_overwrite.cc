// The functions of DocumentWriter and LocalCollection that overwrite parts of a Binary field or
// return its size.

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/local/catalog/patched_records.h"
#include "engine/local/catalog/records.h"
#include "engine/local/collection.h"
#include "engine/local/format/raw_number.h"
#include "engine/local/queries/unique_lookup.h"

namespace gridmount::local {
namespace {

using engine::BinaryOverwrite;
using engine::BinaryPiece;
using engine::kOverwriteBlockBytes;

static_assert(kOverwriteBlockBytes <= kPatchBytesMax);

Status check(const BinaryOverwrite& change) {
  if (change.size > bson::kMaxDocumentBytes) {
    return fail(ErrorCode::kBsonObjectTooLarge,
                "a field of " + std::to_string(change.size) + " bytes does not fit a document of " +
                    std::to_string(bson::kMaxDocumentBytes) + " bytes");
  }
  uint64_t end = 0;
  for (const BinaryPiece& piece : change.pieces) {
    if (piece.offset < end || piece.bytes.empty()) {
      return fail(ErrorCode::kBadValue, "the pieces of an overwrite must ascend, without overlaps");
    }
    end = piece.offset + piece.bytes.size();
  }
  if (end > change.size || change.size < change.expected_size) {
    return fail(ErrorCode::kBadValue, "an overwrite of " + std::to_string(change.expected_size) +
                                          " bytes must be within the new " +
                                          std::to_string(change.size) +
                                          " bytes, and must not shorten the field");
  }
  return {};
}

// Returns the numbers of the blocks in which bytes change or are new.
std::vector<uint32_t> changed_blocks(const BinaryOverwrite& change) {
  std::vector<uint32_t> blocks;
  const auto add = [&](uint32_t from, uint32_t to) {
    for (uint32_t block = from / kOverwriteBlockBytes; block * kOverwriteBlockBytes < to; ++block) {
      blocks.push_back(block);
    }
  };
  for (const BinaryPiece& piece : change.pieces) {
    add(piece.offset, piece.offset + static_cast<uint32_t>(piece.bytes.size()));
  }
  if (change.expected_size < change.size) add(change.expected_size, change.size);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

uint32_t block_end(uint32_t block, uint32_t size) {
  return std::min((block + 1) * kOverwriteBlockBytes, size);
}

// `bytes` has the bytes of the field from the offset `from` on. Copies the bytes of the pieces into
// this range. Returns how many bytes it has copied.
size_t put_pieces(std::span<const BinaryPiece> pieces, uint32_t from, std::span<uint8_t> bytes) {
  size_t put = 0;
  const uint64_t end = uint64_t{from} + bytes.size();
  for (const BinaryPiece& piece : pieces) {
    const uint64_t first = std::max<uint64_t>(piece.offset, from);
    const uint64_t last = std::min<uint64_t>(piece.offset + piece.bytes.size(), end);
    if (first >= last) continue;
    std::memcpy(bytes.data() + (first - from), piece.bytes.data() + (first - piece.offset),
                last - first);
    put += last - first;
  }
  return put;
}

}  // namespace

std::optional<DocumentWriter::BinaryField> DocumentWriter::find_binary(bson::View document,
                                                                       std::string_view name) {
  std::optional<BinaryField> found;
  for (const bson::Element element : document) {
    if (found) {
      found->is_last = false;
      return found;
    }
    if (element.key != name) continue;
    if (element.value.type() != bson::Type::kBinary) return std::nullopt;
    const bson::Binary binary = element.value.as_binary();
    // Only subtype 0 can be overwritten. For example, the bytes of subtype 2 begin with a second
    // length.
    if (binary.subtype != 0) return std::nullopt;
    BinaryField field;
    field.length_at = static_cast<uint32_t>(element.value.data() - document.data());
    field.begin = static_cast<uint32_t>(binary.data - document.data());
    field.size = binary.size;
    field.is_last = true;
    found = field;
  }
  return found;
}

bool DocumentWriter::is_likely_to_be_patched(bson::View document) const {
  if (document.size() < kPatchableBytesMin) return false;
  std::optional<bson::Element> last;
  for (const bson::Element element : document) last.emplace(element);
  return last->value.type() == bson::Type::kBinary && can_patch(last->key);
}

bool DocumentWriter::can_patch(std::string_view field) const {
  // A validator and an observer need the whole document. make_room() expects that the records of a
  // capped collection have no patches.
  if (!read_view_.trees().has_patches() || validates_ || metadata_->settings.capped ||
      read_view_.write_observer() != nullptr) {
    return false;
  }
  const std::vector<bool> affected = affected_by({std::string(field)});
  return std::find(affected.begin(), affected.end(), true) == affected.end();
}

Result<bool> DocumentWriter::overwrite(RecordId id, const BinaryOverwrite& change) {
  GM_TRY(check(change));
  GM_TRY(check_indexes_are_current(*metadata_));
  GM_ASSIGN(FoundBinary found, find_binary_in(read_view_, *metadata_, id, change.field));
  const std::optional<BinaryField>& field = found.field;
  if (!field || field->size != change.expected_size) return false;
  PatchList& list = found.list;

  const uint32_t growth = change.size - change.expected_size;
  const uint32_t bytes_after = list.document_bytes + growth;
  const std::vector<uint32_t> blocks = changed_blocks(change);
  std::vector<uint32_t> offsets = list.offsets;
  for (const uint32_t block : blocks)
    offsets.push_back(field->begin + block * kOverwriteBlockBytes);
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());

  const bool is_large = found.document.size() >= kPatchableBytesMin;
  const bool patchable = is_large && can_patch(change.field);
  const bool fits = offsets.size() <= patches_max(bytes_after) &&
                    bytes_after <= bson::kMaxDocumentBytes && (growth == 0 || field->is_last) &&
                    (list.length_at == 0 || list.length_at == field->length_at);
  if (!patchable || !found.has_list || !fits) {
    GM_TRY(overwrite_whole(id, change, patchable));
    return true;
  }
  list.offsets = std::move(offsets);
  list.document_bytes = bytes_after;
  list.length_at = field->length_at;
  GM_TRY(write_patches(id, change, *field, std::move(list), blocks));
  return true;
}

Result<DocumentWriter::FoundBinary> DocumentWriter::find_binary_in(
    ReadView& read_view, const CollectionMetadata& metadata, RecordId id, std::string_view name) {
  const Trees& trees = read_view.trees();
  GM_ASSIGN(const std::optional<std::string_view> value, get_record(trees, metadata.records, id));
  if (!value) return damage_of(read_view, metadata, id);
  FoundBinary found;
  GM_ASSIGN(found.document,
            document_of(*value, Verify::kStructure, metadata.ns, RecordKey(metadata.records, id)));
  found.list = {found.document.size(), 0, {}};
  found.field = find_binary(found.document, name);
  found.has_list = is_patchable(*value);
  if (!found.has_list) return found;
  GM_ASSIGN(found.list, get_patch_list(trees, metadata.ns, metadata.records, id));
  const uint32_t bytes = found.document.size();
  if (found.list.document_bytes < bytes) return damage_of(read_view, metadata, id);
  if (found.field && found.list.length_at == found.field->length_at) {
    found.field->size += found.list.document_bytes - bytes;
  }
  return found;
}

Status DocumentWriter::confirm_record(ReadView& read_view, const CollectionMetadata& metadata,
                                      const IndexMetadata& index, bson::View filter, RecordId id) {
  GM_ASSIGN(const std::string_view value, read_record(read_view.trees(), metadata, id));
  GM_ASSIGN(const bson::View document,
            document_of(value, Verify::kStructure, metadata.ns, RecordKey(metadata.records, id)));
  return confirm_found(metadata, index, filter, document);
}

Result<std::optional<uint32_t>> DocumentWriter::binary_size(ReadView& read_view,
                                                            const CollectionMetadata& metadata,
                                                            RecordId id, std::string_view field) {
  GM_ASSIGN(const FoundBinary found, find_binary_in(read_view, metadata, id, field));
  return found.field ? std::optional(found.field->size) : std::nullopt;
}

Result<std::optional<uint32_t>> LocalCollection::binary_size(engine::Snapshot& snapshot,
                                                             bson::View filter,
                                                             std::string_view field) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  if (metadata && !metadata->settings.is_view()) {
    const std::optional<UniqueLookup> lookup =
        unique_lookup(*metadata, filter, metadata->collator.get());
    if (lookup) {
      GM_ASSIGN(const std::optional<RecordId> id,
                find_unique(read_view->trees(), *metadata, *lookup));
      if (!id) return std::optional<uint32_t>();
      GM_TRY(DocumentWriter::confirm_record(*read_view, *metadata, *lookup->index, filter, *id));
      return DocumentWriter::binary_size(*read_view, *metadata, *id, field);
    }
  }
  GM_ASSIGN(const std::optional<bson::View> document, find_one(snapshot, filter, {}));
  const std::optional<bson::ValueView> value = document ? document->find(field) : std::nullopt;
  if (!value || value->type() != bson::Type::kBinary || value->as_binary().subtype != 0) {
    return std::optional<uint32_t>();
  }
  return std::optional(value->as_binary().size);
}

tl::unexpected<Error> DocumentWriter::damage_of(ReadView& read_view,
                                                const CollectionMetadata& metadata, RecordId id) {
  Result<bson::View> read = read_document(read_view, metadata, id, Verify::kChecksum);
  if (!read) return fail(std::move(read).error());
  return fail(ErrorCode::kDataCorruptionDetected,
              metadata.ns.full() + ": record " + std::to_string(id) +
                  " is damaged: its patches do not fit it; run 'gridstore check --repair', or "
                  "restore the document from a backup");
}

Result<bson::Document> DocumentWriter::overwritten(bson::View before,
                                                   const BinaryOverwrite& change) {
  const std::optional<BinaryField> field = find_binary(before, change.field);
  if (!field || field->size != change.expected_size) {
    return fail(ErrorCode::kDataCorruptionDetected,
                "the field '" + std::string(change.field) + "' of a document is damaged");
  }
  const uint32_t growth = change.size - change.expected_size;
  const uint64_t size = uint64_t{before.size()} + growth;
  if (size > bson::kMaxDocumentBytes) {
    return fail(ErrorCode::kBsonObjectTooLarge, "the document would have " + std::to_string(size) +
                                                    " bytes; the limit is " +
                                                    std::to_string(bson::kMaxDocumentBytes));
  }
  std::vector<uint8_t> bytes(size);
  const uint32_t end = field->begin + field->size;
  std::memcpy(bytes.data(), before.data(), end);
  std::memcpy(bytes.data() + end + growth, before.data() + end, before.size() - end);
  store<uint32_t>(bytes, 0, static_cast<uint32_t>(size));
  store<uint32_t>(bytes, field->length_at, change.size);
  put_pieces(change.pieces, 0, std::span(bytes).subspan(field->begin, change.size));
  return bson::Document(std::move(bytes));
}

Status DocumentWriter::overwrite_whole(RecordId id, const BinaryOverwrite& change, bool patchable) {
  GM_ASSIGN(const bson::View before, read_document(read_view_, *metadata_, id, Verify::kChecksum));
  GM_ASSIGN(const bson::Document after, overwritten(before, change));
  if (!patchable) return replace(id, before, after, affected_by({std::string(change.field)}));
  const int64_t growth = int64_t{after.view().size()} - int64_t{before.size()};
  if (growth != 0) {
    GM_ASSIGN(Counts* const counts, read_view_.catalog().counts_for_change(*metadata_));
    counts->document_bytes += growth;
  }
  return put_patchable_record(read_view_.trees(), metadata_->ns, metadata_->records, id, after);
}

Status DocumentWriter::write_patches(RecordId id, const BinaryOverwrite& change,
                                     const BinaryField& field, PatchList list,
                                     const std::vector<uint32_t>& blocks) {
  std::vector<std::pair<uint32_t, std::string>> patches;
  std::optional<bson::View> before;
  for (const uint32_t block : blocks) {
    const uint32_t from = block * kOverwriteBlockBytes;
    std::string bytes(block_end(block, change.size) - from, '\0');
    const std::span<uint8_t> span(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
    if (put_pieces(change.pieces, from, span) < bytes.size()) {
      // The rest of the block comes from the document. Verify its checksums, because the patch gets
      // a new checksum.
      if (!before) {
        GM_ASSIGN(before, read_document(read_view_, *metadata_, id, Verify::kChecksum));
      }
      const uint32_t there = std::min(block_end(block, field.size), change.size);
      if (from < there)
        std::memcpy(bytes.data(), before->data() + field.begin + from, there - from);
      put_pieces(change.pieces, from, span);
    }
    patches.emplace_back(field.begin + from, std::move(bytes));
  }
  if (change.size != change.expected_size) {
    GM_ASSIGN(Counts* const counts, read_view_.catalog().counts_for_change(*metadata_));
    counts->document_bytes += change.size - change.expected_size;
  }
  return put_patches(read_view_.trees(), metadata_->records, id, patches, list);
}

}  // namespace gridmount::local
