// The value of an index entry. It says how to read the values back that the key encodes, so that a
// query which needs only indexed fields need not fetch the document. FORMAT.md, chapter "Index
// keys".
//
// Thread-safety: pure functions. A KeyReader is immutable after construction, so safe to share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/local/format/index_key_spec.h"
#include "engine/local/format/record.h"

namespace gridmount::local {

// The type of a value, as one byte for each part of an index. Values that compare equal have the
// same encoding, so the key does not distinguish them.
enum class ValueKind : char {
  kOfClass = 1,  // the type for which the encoding's class stands
  kInt32 = 2,
  kInt64 = 3,
  kDouble = 4,
  kMissing = 5,  // no such field at the top of the document
};

// Returns the kinds of the values in the document's only key. Returns an empty string if a value
// cannot be read back: the document has an array under the paths, or the value is of a kind whose
// encoding loses something (documents, Decimal128, -0.0, ...).
std::string value_kinds(const IndexKeySpec& rules, bson::View document);

// Returns the value of the entry with this key: the record id if the index is unique, then the
// kinds, then the checksum if the index has checksums.
std::string index_value(const IndexMetadata& index, std::string_view key, RecordId id,
                        std::string_view kinds);
// Returns whether the entry's checksum is right. Returns true for an index without checksums.
bool is_sound(const IndexMetadata& index, const TreeEntry& entry);
// Returns the kinds in an entry's value, or nothing if it has none. Ignores bytes that later
// programs may have put after the kinds.
std::string_view kinds_of_value(const IndexMetadata& index, std::string_view value);

// Builds documents of the indexed fields from index entries.
class KeyReader {
 public:
  explicit KeyReader(const IndexMetadata& index);

  // Returns {path: value, ...} in the order of the parts. Paths with a common beginning share one
  // subdocument. Returns nothing if the values cannot be read back from the entry.
  std::optional<bson::Document> read(std::string_view encoded, std::string_view kinds) const;

 private:
  // A field of the resulting documents: a value (`part`) or a subdocument (`below`).
  struct Field {
    std::string name;
    std::optional<size_t> part;
    std::vector<Field> below;
  };
  struct Part {
    size_t begin = 0;
    size_t size = 0;
    ValueKind kind = ValueKind::kMissing;
  };
  void add(std::vector<Field>& fields, const std::vector<std::string>& path, size_t depth,
           size_t part);
  bool write(bson::Builder& builder, const std::vector<Field>& fields, std::string_view encoded,
             const std::vector<Part>& parts) const;

  std::vector<Field> fields_;
  std::vector<bool> descending_;
  bool readable_ = true;
};

}  // namespace gridmount::local
