#include "engine/local/format/record.h"

#include <cstring>
#include <span>

#include "engine/bson/text.h"
#include "engine/checksum/crc32c.h"
#include "engine/local/format/entry_checksum.h"
#include "engine/local/format/raw_number.h"

namespace gridmount::local {
namespace {

constexpr size_t kRecordChecksumBytes = 4;

bool has_checksum_of_key(uint8_t kind) {
  return kind == kKeyedRecord || kind == kPatchableRecord;
}

}  // namespace

RecordKey::RecordKey(const Keyspace& records, RecordId id) : tree_(records.tree), id_(id) {
  for (size_t i = 0; i < 4; ++i) bytes_[i] = static_cast<uint8_t>(records.prefix >> (24 - 8 * i));
  for (size_t i = 0; i < 8; ++i) bytes_[4 + i] = static_cast<uint8_t>(id >> (56 - 8 * i));
}

uint32_t RecordKey::checksum() const {
  return key_checksum(tree_, view());
}

std::optional<RecordId> record_id_of(std::string_view key) {
  if (key.size() != kRecordKeyBytes) return std::nullopt;
  return big_endian_64(key.substr(4));
}

std::string record_name(std::string_view value, RecordId id) {
  std::string record = "record " + std::to_string(id);
  if (value.size() <= kRecordHeaderBytes) return record;
  const Result<bson::View> document = bson::validate(bytes_of(value.substr(kRecordHeaderBytes)));
  if (!document) return record;
  const std::optional<bson::ValueView> document_id = document->find("_id");
  if (!document_id) return record;
  return "the document with _id " + bson::to_text(*document_id) + " (" + record + ")";
}

std::optional<bool> has_key_checksum(std::string_view value, uint32_t tree, std::string_view key) {
  if (!has_checksum_of_key(static_cast<uint8_t>(value[kRecordChecksumBytes]))) return std::nullopt;
  return load<uint32_t>(value, kRecordChecksumBytes) >> 8 == key_checksum(tree, key);
}

std::string record_defect(std::string_view value, Verify verify, const RecordKey& key) {
  if (value.size() < kRecordHeaderBytes + 5) {
    return "the record has only " + std::to_string(value.size()) + " bytes";
  }
  if (verify == Verify::kChecksum) {
    const uint32_t stored = load<uint32_t>(value, 0);
    if (crc32c(bytes_of(value.substr(kRecordChecksumBytes))) != stored) {
      return "its checksum does not match its contents";
    }
  }
  const auto kind = static_cast<uint8_t>(value[kRecordChecksumBytes]);
  if (has_checksum_of_key(kind)) {
    if (load<uint32_t>(value, kRecordChecksumBytes) >> 8 != key.checksum()) {
      return "it does not belong to its key";
    }
  } else if (kind != kPlainRecord) {
    return "the record is of kind " + std::to_string(kind) + ", which this version does not know";
  }
  const size_t document_bytes = value.size() - kRecordHeaderBytes;
  const uint32_t length = load<uint32_t>(value, kRecordHeaderBytes);
  if (length != document_bytes) {
    return "the document claims " + std::to_string(length) + " bytes, but the record holds " +
           std::to_string(document_bytes);
  }
  if (verify == Verify::kStructure) {
    const Result<bson::View> valid = bson::validate(bytes_of(value.substr(kRecordHeaderBytes)));
    if (!valid) return valid.error().message();
    if (valid->empty() || (*valid->begin()).key != "_id") return "its first field is not _id";
  }
  return {};
}

Result<bson::View> document_of(std::string_view value, Verify verify, const engine::Namespace& ns,
                               const RecordKey& key) {
  if (std::string defect = record_defect(value, verify, key); !defect.empty()) {
    return fail(ErrorCode::kDataCorruptionDetected,
                ns.full() + ": " + record_name(value, key.id()) + " is damaged: " + defect +
                    "; run 'gridstore check --repair', or restore the document from a backup");
  }
  return bson::View(reinterpret_cast<const uint8_t*>(value.data()) + kRecordHeaderBytes,
                    static_cast<uint32_t>(value.size() - kRecordHeaderBytes));
}

bool is_patchable(std::string_view value) {
  return static_cast<uint8_t>(value[kRecordChecksumBytes]) == kPatchableRecord;
}

void write_record(std::span<uint8_t> value, const RecordKey& key, bson::View document,
                  uint8_t kind) {
  store(value, kRecordChecksumBytes,
        has_checksum_of_key(kind) ? key.checksum() << 8 | kind : uint32_t{kind});
  std::memcpy(value.data() + kRecordHeaderBytes, document.data(), document.size());
  store(value, 0, crc32c(value.subspan(kRecordChecksumBytes)));
}

}  // namespace gridmount::local
