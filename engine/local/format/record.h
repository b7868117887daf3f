// Writes and reads records. A record is a stored document with its record id and a checksum. See
// FORMAT.md, chapter "Records".
//
// A record's id never changes. Ids ascend in the order of insertion. A collection never uses an id
// again.
//
// Thread-safety: functions without state, and plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/keyspace.h"
#include "engine/store.h"

namespace gridmount::local {

using RecordId = uint64_t;

inline constexpr size_t kRecordHeaderBytes = 8;
inline constexpr size_t kRecordKeyBytes = 12;
// The kinds of records. All have a document.
inline constexpr uint8_t kPlainRecord = 0;
inline constexpr uint8_t kKeyedRecord = 1;  // the header also has a checksum of the key
// Like kKeyedRecord, and parts of the document may be in patches (record_patches.h).
inline constexpr uint8_t kPatchableRecord = 2;

// The key of a record. Does not allocate.
class RecordKey {
 public:
  RecordKey(const Keyspace& records, RecordId id);
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  RecordId id() const { return id_; }
  // Returns the checksum of this key, which the header of a keyed record has.
  uint32_t checksum() const;

 private:
  uint32_t tree_;
  RecordId id_;
  std::array<uint8_t, kRecordKeyBytes> bytes_;
};

// Returns the id in a record's key, or nothing if the key does not have kRecordKeyBytes.
std::optional<RecordId> record_id_of(std::string_view key);

enum class Verify {
  kChecksum,   // verifies the checksum, and so reads the whole record; also does what kBounds does
  kStructure,  // verifies that the fields can be iterated and the first is _id; their values may be
               // damaged; also does what kBounds does
  kBounds,     // verifies only the document's size and, except for a kPlainRecord, that the record
               // belongs to the key; the fields may be read only if the record was verified before
};

// Returns the document in a record's value, as a view of `value`, without patches
// (catalog/patched_records.h). Fails with DataCorruptionDetected if the record is damaged. The
// message names `ns` and the document's _id, or the record id if the _id cannot be read.
Result<bson::View> document_of(std::string_view value, Verify verify, const engine::Namespace& ns,
                               const RecordKey& key);

// Returns "the document with _id X (record N)" if the _id can be read from the value, which may be
// damaged. Otherwise returns "record N".
std::string record_name(std::string_view value, RecordId id);

// Returns why the value is not a valid record of the key, or an empty string if it is.
std::string record_defect(std::string_view value, Verify verify, const RecordKey& key);
// Returns whether a record's header has the checksum of the key, or nothing if the record is of a
// kind without that checksum. `value` may be only the beginning of the record, but must have at
// least the header's kRecordHeaderBytes.
std::optional<bool> has_key_checksum(std::string_view value, uint32_t tree, std::string_view key);

// Returns whether the value, which must be that of a sound record, is of the kind kPatchableRecord.
bool is_patchable(std::string_view value);

// Writes a record of the document and of this kind into `value`, which must be kRecordHeaderBytes
// larger than the document.
void write_record(std::span<uint8_t> value, const RecordKey& key, bson::View document,
                  uint8_t kind);

}  // namespace gridmount::local
