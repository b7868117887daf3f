// The keys a document has in an index: which values its paths reach, and their encodings.
// Source: MongoDB manual, "Multikey Indexes", "Sparse/Missing fields".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/error.h"

namespace gridmount::local {

struct IndexPart {
  bson::Path path;
  bool descending = false;
};

// {a: 1, "b.c": -1}: at least one part, at most kMaxIndexParts, values 1 or -1 of any numeric type,
// names neither empty nor with a part that begins with '$'. CannotCreateIndex otherwise; `index`
// names it in the message.
inline constexpr size_t kMaxIndexParts = 32;
Result<std::vector<IndexPart>> parse_index_parts(bson::View keys, std::string_view index);

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

// Puts the document's keys into `keys` (at least one: a missing field counts as null), shortened
// where too long. An array on a path gives one key for each element; CannotIndexParallelArrays if
// two parts of one index reach different arrays.
Status extract_keys(const std::vector<IndexPart>& parts, bson::View document, KeySet& keys);
// The same without shortening, for putting runs of shortened keys in order.
Status extract_whole_keys(const std::vector<IndexPart>& parts, bson::View document, KeySet& keys);

}  // namespace gridmount::local
