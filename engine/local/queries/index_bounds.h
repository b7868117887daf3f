// Converts the bounds of a plan into ranges of index keys. Checks the bounds that ranges cannot
// express.
//
// Thread-safety: immutable, so thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/local/format/collection_metadata.h"
#include "engine/local/queries/key_bounds.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

struct KeyRange {
  std::string low;   // the first key that may be in the range
  std::string high;  // the first key after the range
};

class IndexBounds {
 public:
  // The ranges are within both `bounds` and `limits`. `bounds` has the intervals for the first
  // parts of the index.
  IndexBounds(const IndexMetadata& index, const std::vector<std::vector<query::Interval>>& bounds,
              const KeyBounds& limits = {});

  // Returns the ranges, sorted by their keys and without overlaps. The keys include the keyspace's
  // prefix.
  const std::vector<KeyRange>& ranges() const { return ranges_; }

  // Checks an encoded key from one of the ranges against the bounds that the ranges do not express.
  // Returns kUnknown for a key that is truncated or cannot be decoded: the caller must then check
  // the document.
  enum class Fit { kInside, kOutside, kUnknown };
  Fit fit(std::string_view encoded) const;

 private:
  struct EncodedInterval {
    std::string low;
    std::string high;
    bool low_inclusive;
    bool high_inclusive;
    bool point;
  };
  using EncodedPart = std::vector<EncodedInterval>;

  static EncodedPart encode(const std::vector<query::Interval>& intervals, const IndexPart& part);
  void make_ranges(const IndexMetadata& index, const std::vector<EncodedPart>& parts);
  void limit_ranges(const IndexMetadata& index, const KeyBounds& limits);

  std::vector<KeyRange> ranges_;
  size_t covered_ = 0;             // the number of leading parts that the ranges express
  std::vector<EncodedPart> rest_;  // the bounds of the remaining parts
  std::vector<bool> descending_;
};

// Returns the range that contains only the key `encoded`.
KeyRange range_of_whole_key(const Keyspace& keyspace, std::string encoded);

}  // namespace gridmount::local
