// Sort specifications: {filename: 1, uploadDate: -1}. Immutable once parsed, so safe to share
// between threads.
//
// Source: MongoDB manual, "Sort Consistency" and "Comparison/Sort Order". In an ascending part of
// the specification an array sorts by its least element, in a descending part by its greatest
// element. A missing field sorts as null.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/dotted_path.h"
#include "engine/bson/value.h"
#include "engine/query/collation/collator.h"

namespace gridmount::query {

// Whether a sort specification may name metadata: {score: {$meta: "textScore"}}.
enum class SortMetadata { kRefused, kAllowed };

class Sort {
 public:
  struct Part {
    bson::Path path;
    bool descending = false;
    // {field: {$meta: "textScore"}}: the greatest text score comes first, and `path` has no effect.
    bool is_text_score = false;
  };

  // Each element of the specification is one part. Fails as parse_sort_part() does, and with
  // BadValue for more than 32 parts. An empty specification sorts nothing. Strings are compared by
  // `collator`, or as bytes if `collator` is null.
  static Result<Sort> parse(bson::View specification, SharedCollator collator = nullptr,
                            SortMetadata metadata = SortMetadata::kRefused);

  const std::vector<Part>& parts() const { return parts_; }
  bool empty() const { return parts_.empty(); }
  const SharedCollator& collator() const { return collator_; }
  bool uses_text_score() const;

  // Returns the values by which the document is sorted, one per part. An index on these parts would
  // have one or more keys for the document. The values are the key that comes first in the order of
  // the sort. Parts that lead through the same array take their values from the same element. Fails
  // with BadValue if parts lead through different arrays of one document. A sort by _id alone takes
  // the whole value, even an array, as the index on _id does.
  // `text_score` is the text score of the document, if it has one.
  Result<std::vector<bson::Value>> key_of(bson::View document,
                                          std::optional<double> text_score = std::nullopt) const;
  // Compares two keys that key_of() has returned, and applies the directions.
  std::weak_ordering compare_keys(const std::vector<bson::Value>& a,
                                  const std::vector<bson::Value>& b) const;

 private:
  std::vector<Part> parts_;
  SharedCollator collator_;
};

// Parses one part. The value must be 1 or -1, of any numeric type, or {$meta: "textScore"} if
// metadata is allowed. The fraction of a double is cut off, and a decimal is rounded. Fails with
// code 17312 for a document other than {$meta: ...}. If metadata is allowed, fails with
// FailedToParse (9) for further fields in that document, with 40218, 31218, 31219 or
// CommandNotSupported (115) for metadata that only servers have, and with 31138 for other metadata.
// Fails with 15974 for another value that is not a number, with 15975 for another number, and with
// the errors of split_field_path() for an invalid path. Checks for these errors in this order.
Result<Sort::Part> parse_sort_part(const bson::Element& element,
                                   SortMetadata metadata = SortMetadata::kRefused);

// Returns the error for {$meta: "textScore"} in a command without a text search.
tl::unexpected<Error> text_score_unavailable();

// Returns the value by which $push and $sortArray sort an element: the whole value at the path,
// even if it is an array. Returns null if there is no value, or if the element is not a document.
bson::ValueView whole_value_at(bson::ValueView element, const bson::Path& path);

// Returns QueryExceededMemoryLimitNoDiskUseAllowed with the server's message, for a sort in memory.
tl::unexpected<Error> sort_memory_exceeded(uint64_t bytes_max);

}  // namespace gridmount::query
