// A record's key and value: a document under its record id, with a checksum. FORMAT.md, chapter
// "Records".
//
// A record keeps its id for life; ids ascend in the order of insertion and are never used twice in
// a collection.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/range.h"
#include "engine/store.h"

namespace gridmount::local {

using RecordId = uint64_t;

inline constexpr size_t kRecordHeaderBytes = 8;
inline constexpr size_t kRecordKeyBytes = 12;
// The kinds: both are a document.
inline constexpr uint8_t kPlainRecord = 0;
inline constexpr uint8_t kKeyedRecord = 1;  // its header has the checksum of its key

// The key of a record, made without allocating.
class RecordKey {
 public:
  RecordKey(const Range& records, RecordId id);
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  RecordId id() const { return id_; }
  // What a keyed record has of it.
  uint32_t checksum() const;

 private:
  uint32_t tree_;
  RecordId id_;
  std::array<uint8_t, kRecordKeyBytes> bytes_;
};

// The id in a record's key; nothing if the key has not a record key's size.
std::optional<RecordId> record_id_of(std::string_view key);

enum class Verify {
  kChecksum,   // read all of the record
  kStructure,  // that its fields can be walked over and the first is _id; what they hold may be
               // damaged
  kBounds,     // only that it is the key's, and that the document lies within it: no field can be
               // read unless the record was verified before
};

// The document in the value that the key has. DataCorruptionDetected naming `ns` and the document's
// _id, or the record id if that cannot be read.
Result<bson::View> document_of(std::string_view value, Verify verify, const engine::Namespace& ns,
                               const RecordKey& key);

// "the document with _id X (record N)" if the value, damaged or not, still gives that, else "record
// N".
std::string record_name(std::string_view value, RecordId id);

// Why the value is no sound record of that key; empty if it is.
std::string record_defect(std::string_view value, Verify verify, const RecordKey& key);
// Whether the beginning of a value, at least of a header's size, has the key's checksum. Nothing if
// it is of a kind without one.
std::optional<bool> has_key_checksum(std::string_view value, uint32_t tree, std::string_view key);

// Makes a record of the document. `value` has kRecordHeaderBytes more than the document. With
// `keyed` it is of the kind kKeyedRecord.
void write_record(std::span<uint8_t> value, const RecordKey& key, bson::View document, bool keyed);

}  // namespace gridmount::local
