// Writes and reads the value of an index entry. The entry's key encodes values of a document, and
// the entry's value has the types of these values. So a query that needs only indexed fields can
// decode these fields from the entry, and need not read the document. See FORMAT.md, chapter "Index
// keys".
//
// Thread-safety: pure functions. A KeyReader is immutable, so thread-safe.
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

// The type of a value, in one byte for each part of an index. The key does not have the type,
// because values that compare equal have the same encoding.
enum class ValueKind : char {
  kOfClass = 1,  // the class of the encoding tells the type (bson/key_string_bytes.h)
  kInt32 = 2,
  kInt64 = 3,
  kDouble = 4,
  kMissing = 5,  // the document has no such top-level field
};

// Returns the kinds of the values in the key that the index has for the document, one byte for each
// part. Returns an empty string if the values cannot be decoded from the key, in each of these
// cases:
// - The index is a text or wildcard index, or a part of it is hashed.
// - The document has an array on a path of the index (unless the path names the position of an
//   element), or lacks a field with a dotted path.
// - The encoding of a value is not reversible (documents, Decimal128, -0.0, strings in an index
//   with a collation, ...).
std::string value_kinds(const IndexKeySpec& rules, bson::View document);

// Returns the value of the entry with this key: the record id if the index is unique, then the
// kinds, then the checksum if the index has checksums.
std::string index_value(const IndexMetadata& index, std::string_view key, RecordId id,
                        std::string_view kinds);
// Returns whether the entry's checksum is correct. Returns true for an index without checksums.
bool is_sound(const IndexMetadata& index, const TreeEntry& entry);
// Returns the kinds in an entry's value, as a view of `value`. Returns an empty view if the value
// has no kinds. Ignores bytes after the kinds, which newer programs may have written.
std::string_view kinds_of_value(const IndexMetadata& index, std::string_view value);

// Builds documents from index entries. The documents have only the indexed fields.
class KeyReader {
 public:
  explicit KeyReader(const IndexMetadata& index);

  // Returns {path: value, ...} in the order of the parts. Paths with a common beginning share one
  // subdocument. Returns nothing if the values cannot be decoded from the entry.
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
