// Sort specifications: {filename: 1, uploadDate: -1}.
// Source: MongoDB manual, "Sort Consistency" and "Comparison/Sort Order" (arrays sort by their
// least element ascending, their greatest descending; a missing field sorts as null).
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/bson/value.h"

namespace gridmount::query {

class Sort {
 public:
  struct Part {
    bson::Path path;
    bool descending = false;
  };

  // Codes 15974 and 15975 unless each value is 1 or -1, of any numeric type: a double's fraction is
  // cut off, a decimal rounded. An empty specification sorts nothing.
  static Result<Sort> parse(bson::View specification);

  const std::vector<Part>& parts() const { return parts_; }
  bool empty() const { return parts_.empty(); }

  // The values a document is sorted by, one per part: of the keys an index of these parts would
  // hold for it, the first in the order asked for. Where parts lead through one array they come
  // from the same element; parts of different arrays, which servers refuse, are each sorted on
  // their own.
  std::vector<bson::Value> key_of(bson::View document) const;
  // Compares two such keys with the directions applied.
  std::weak_ordering compare_keys(const std::vector<bson::Value>& a,
                                  const std::vector<bson::Value>& b) const;

 private:
  std::vector<Part> parts_;
};

// What $push and $sortArray sort an element by: the value at the path as a whole, arrays included.
// Null where there is none, and for an element that is no document.
bson::ValueView whole_value_at(bson::ValueView element, const bson::Path& path);

// QueryExceededMemoryLimitNoDiskUseAllowed, in the server's words: of a sort in a buffer.
tl::unexpected<Error> sort_memory_exceeded(uint64_t bytes_max);

}  // namespace gridmount::query
