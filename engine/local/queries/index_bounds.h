// A plan's bounds as ranges of index keys, and the check of what the ranges cannot express.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/local/format/catalog_entry.h"
#include "engine/local/queries/key_limits.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

struct KeyRange {
  std::string low;   // the first key that may belong
  std::string high;  // the first behind that does not
};

class IndexBounds {
 public:
  // Within `limits`, too.
  IndexBounds(const IndexEntry& index, const std::vector<std::vector<query::Interval>>& bounds,
              const KeyLimits& limits = {});

  // Disjoint, in the order of keys, prefix included.
  const std::vector<KeyRange>& ranges() const { return ranges_; }

  // Whether an encoded key from one of the ranges also lies within the bounds of the parts behind
  // those the ranges are made of. kUnknown for keys that were shortened: only the document can say.
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
  void make_ranges(const IndexEntry& index, const std::vector<EncodedPart>& parts);
  void limit_ranges(const IndexEntry& index, const KeyLimits& limits);

  std::vector<KeyRange> ranges_;
  size_t covered_ = 0;             // leading parts that the ranges express
  std::vector<EncodedPart> rest_;  // the bounds of the parts behind them
  std::vector<bool> descending_;
};

// The bounds that let exactly one encoded key through.
KeyRange range_of_whole_key(const Range& range, std::string encoded);

}  // namespace gridmount::local
