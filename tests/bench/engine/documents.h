// The documents of the engine's benchmark, and the order in which they are picked. A document's
// number determines everything in it. So both systems store the same documents, and no input has to
// be kept.
//
// A document has about 300 bytes:
//   {_id, email: unique, in random order, number: a permutation of 0 to count - 1,
//    category: one of a hundred, amount: in quarters below 1000, count: seven digits,
//    active, tags: [...], text}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/bson/document.h"

namespace gridmount::bench {

// The number of a document. It is the insertion order, and the order of the ids.
using Number = uint32_t;

class Documents {
 public:
  // The documents have the numbers 0 to `count` - 1.
  explicit Documents(Number count);

  Number count() const { return static_cast<Number>(permutation_.size()); }

  static bson::ObjectId id(Number n);
  static std::string email(Number n);
  bson::Document bson(Number n) const;
  // Returns the same document in relaxed Extended JSON, without spaces.
  std::string json(Number n) const;

  // Returns the i-th number of a random permutation, which starts again after count().
  Number pick(uint64_t i) const { return permutation_[i % permutation_.size()]; }

  // Returns the value of `text` in a document that has grown.
  static const std::string& long_text();

 private:
  std::vector<Number> permutation_;
};

}  // namespace gridmount::bench
