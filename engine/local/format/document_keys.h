// The keys a document has in an index: which values its paths reach, and their encodings.
// Source: MongoDB manual, "Multikey Indexes", "Sparse Indexes", "Partial Indexes", "Hashed
// Indexes".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/index_definition.h"

namespace gridmount::local {

struct IndexPart {
  bson::Path path;
  bool descending = false;
  bool hashed = false;
};

// Appends what the part encodes a value to, or a missing one.
void append_part(std::string& out, const IndexPart& part,
                 const std::optional<bson::ValueView>& value);

// Which documents are in an index, and by what.
struct KeyRules {
  std::vector<IndexPart> parts;
  bool sparse = false;
  std::shared_ptr<const query::Filter> partial;  // null: all documents
};

// {a: 1, "b.c": -1, d: "hashed"}: at least one part, at most kMaxIndexParts, numbers other than 0
// or one "hashed", names neither empty nor with a part that begins with '$'. CannotCreateIndex
// otherwise, also for kinds of indexes that are not supported and a partial filter with operators
// that servers refuse there.
inline constexpr size_t kMaxIndexParts = 32;
Result<KeyRules> key_rules(const query::IndexDefinition& definition);

// A sorted set of encoded keys, kept in one buffer that is reused from document to document.
class KeySet {
 public:
  size_t size() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  std::string_view operator[](size_t i) const {
    return std::string_view(bytes_).substr(keys_[i].offset, keys_[i].size);
  }
  bool contains(std::string_view key) const;
  bool multikey() const { return multikey_; }

  void clear();

 private:
  friend class KeyExtraction;

  struct Key {
    uint32_t offset;
    uint32_t size;
  };
  void end_key(size_t start, bool shortened);
  void sort();

  std::string bytes_;
  std::vector<Key> keys_;
  bool multikey_ = false;
};

// Puts the document's keys into `keys`, shortened where too long: none if the rules leave it out,
// else at least one, as a missing field counts as null. An array on a path gives one key for each
// element; CannotIndexParallelArrays if two parts of one index reach different arrays, 16766 for an
// array under a hashed index.
Status extract_keys(const KeyRules& rules, bson::View document, KeySet& keys);
// The same without shortening, for putting runs of shortened keys in order.
Status extract_whole_keys(const KeyRules& rules, bson::View document, KeySet& keys);

}  // namespace gridmount::local
