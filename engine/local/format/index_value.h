// What an index entry holds beside its key: how the values that the key encodes are read back, so
// that a query that asks for nothing else needs no document. FORMAT.md, chapter "Index entries".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/format/document_keys.h"
#include "engine/local/format/record.h"

namespace gridmount::local {

// One byte for each part of an index. Keys do not tell apart what compares equal.
enum class ValueKind : char {
  kOfClass = 1,  // the only type of its class that is read back
  kInt32 = 2,
  kInt64 = 3,
  kDouble = 4,
  kMissing = 5,  // no such field at the top of the document
};

// The kinds of the values in the document's only key. Empty if they could not be read back: the
// document has an array under the paths, or a value of a type that its encoding does not give back
// whole (documents, Decimal128, -0.0, ...).
std::string value_kinds(const KeyRules& rules, bson::View document);

// The value of the entry with this key: the record id in a unique index, then the kinds, then the
// checksum if the index has them.
std::string index_value(const IndexEntry& index, std::string_view key, RecordId id,
                        std::string_view kinds);
// What the entry's checksum says; an index without them has none to be wrong.
bool is_sound(const IndexEntry& index, const TreeEntry& entry);
// Empty if there are none; what later programs put behind them is passed over.
std::string_view kinds_of_value(const IndexEntry& index, std::string_view value);

// Reads documents of the indexed fields out of entries.
class KeyReader {
 public:
  explicit KeyReader(const IndexEntry& index);

  // {path: value, ...} in the order of the parts, paths with a common beginning in one subdocument.
  // Nothing if the entry does not tell.
  std::optional<bson::Document> read(std::string_view encoded, std::string_view kinds) const;

 private:
  // A field of the documents: a value, or a subdocument of several.
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
