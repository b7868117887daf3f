// Computes the keys of a document in an index. A key is the encoding of the values that the index's
// paths reach.
// Source: MongoDB manual, "Multikey Indexes", "Sparse Indexes", "Partial Indexes", "Hashed
// Indexes", "Text Indexes".
//
// Thread-safety: functions without state. A KeySet is not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/index_key_spec.h"

namespace gridmount::local {

// A sorted set of encoded keys in one buffer. A caller that reuses one set for many documents saves
// allocations. Views of keys are valid until the set is changed.
class KeySet {
 public:
  size_t size() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  std::string_view operator[](size_t i) const {
    return std::string_view(bytes_).substr(keys_[i].offset, keys_[i].size);
  }
  bool contains(std::string_view key) const;
  // Returns whether the document has an array on a path of the index. For a text index or a
  // wildcard index, returns whether the document has several keys, equal ones included.
  bool multikey() const { return multikey_; }

  void clear();

 private:
  friend class KeyExtraction;

  struct Key {
    uint32_t offset;
    uint32_t size;
  };
  void end_key(size_t start, bool truncated);
  void sort();

  std::string bytes_;
  std::vector<Key> keys_;
  bool multikey_ = false;
};

// Replaces the contents of `keys` with the document's keys. Truncates keys that are too long. The
// set is empty if the index leaves the document out (sparse or partial). Otherwise the set has at
// least one key, because a missing field counts as null (for text and wildcard indexes see below).
// An array on a path gives one key for each element. Fails with CannotIndexParallelArrays if two
// fields of the index reach different arrays, with Location16766 if an index with a hashed field
// has an array on any of its paths, and with Location16746 if a number in a path is both a position
// in an array and the name of a field of an element. In a text index, the set has one key for each
// term of the document, and none if the document has no terms. Fails with CannotBuildIndexKeys
// (201) for an array in another field of a text index, and as TextIndexSpec::scores_of() does. In a
// wildcard index, the set has one key for each value at a path that the index includes, and may be
// empty. For a text or wildcard index, also fails as query::check_interruption_of() does.
Status extract_keys(const IndexKeySpec& rules, bson::View document, KeySet& keys);
// Like extract_keys(), but does not truncate keys. If two truncated keys are equal, the whole keys
// show their order.
Status extract_whole_keys(const IndexKeySpec& rules, bson::View document, KeySet& keys);

// Returns the score in a key of a text index. Returns nothing if the key is truncated or damaged.
std::optional<double> score_of_key(const IndexKeySpec& rules, std::string_view key);

}  // namespace gridmount::local
