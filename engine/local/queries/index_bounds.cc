#include "engine/local/queries/index_bounds.h"

#include <algorithm>

#include "engine/local/format/index_key_encoding.h"

namespace gridmount::local {
namespace {

// A prefix with this byte appended is a bound above every key with the prefix (invariant K3 of
// bson/key_string.h).
constexpr char kAboveAll = '\xFF';

// Above this number of combinations, the bounds of later parts are checked for each key.
constexpr size_t kRangesMax = 4096;

// Returns the lower end of a range. `encoded` holds the leading parts of keys.
std::string low_end(std::string encoded, bool inclusive) {
  if (is_truncated(encoded)) {
    // Keys with this beginning are truncated too, and are ordered by their hashes.
    encoded.resize(kEncodedBytesMax);
  } else if (!inclusive) {
    encoded.push_back(kAboveAll);
  }
  return encoded;
}

std::string high_end(std::string encoded, bool inclusive) {
  if (is_truncated(encoded)) {
    encoded.resize(kEncodedBytesMax);
    encoded.push_back(kAboveAll);
  } else if (inclusive) {
    encoded.push_back(kAboveAll);
  }
  return encoded;
}

}  // namespace

KeyRange range_of_whole_key(const Keyspace& keyspace, std::string encoded) {
  truncate_encoding(encoded);
  const std::string prefix = keyspace_prefix(keyspace);
  return {prefix + encoded, prefix + encoded + kAboveAll};
}

IndexBounds::IndexBounds(const IndexMetadata& index,
                         const std::vector<std::vector<query::Interval>>& bounds,
                         const KeyBounds& limits) {
  std::vector<EncodedPart> parts;
  const std::vector<IndexPart>& index_parts = index.rules.parts;
  for (size_t i = 0; i < bounds.size() && i < index_parts.size(); ++i) {
    parts.push_back(encode(bounds[i], index_parts[i]));
  }
  for (const IndexPart& part : index_parts) descending_.push_back(part.descending);
  make_ranges(index, parts);
  limit_ranges(index, limits);
}

// A key is its encoding, in most indexes followed by a record id. So keys that begin with the lower
// limit are in the range, and keys that begin with the upper limit are not.
void IndexBounds::limit_ranges(const IndexMetadata& index, const KeyBounds& limits) {
  const std::string prefix = keyspace_prefix(index.keyspace);
  for (KeyRange& range : ranges_) {
    if (limits.low) range.low = std::max(range.low, prefix + *limits.low);
    if (limits.high) range.high = std::min(range.high, prefix + *limits.high);
  }
  std::erase_if(ranges_, [](const KeyRange& range) { return range.low >= range.high; });
}

IndexBounds::EncodedPart IndexBounds::encode(const std::vector<query::Interval>& intervals,
                                             const IndexPart& index_part) {
  EncodedPart part;
  const bool descending = index_part.descending;
  if (index_part.hashed) {
    // The bounds of a hashed part are either points or no condition at all.
    for (const query::Interval& interval : intervals) {
      if (!interval.is_point())
        return encode({query::Interval{bson::Value::min_key(), bson::Value::max_key()}},
                      IndexPart{index_part.path});
      EncodedInterval point{{}, {}, true, true, true};
      append_part(point.low, index_part, interval.low);
      point.high = point.low;
      part.push_back(std::move(point));
    }
    return part;
  }
  for (const query::Interval& interval : intervals) {
    EncodedInterval encoded{{}, {}, interval.low_inclusive, interval.high_inclusive, false};
    bson::append_key_string(encoded.low, interval.low, descending, index_part.collator.get());
    bson::append_key_string(encoded.high, interval.high, descending, index_part.collator.get());
    if (descending) {
      std::swap(encoded.low, encoded.high);
      std::swap(encoded.low_inclusive, encoded.high_inclusive);
    }
    if (encoded.low > encoded.high) continue;
    encoded.point = encoded.low == encoded.high;
    if (encoded.point && !(encoded.low_inclusive && encoded.high_inclusive)) continue;
    part.push_back(std::move(encoded));
  }
  return part;
}

void IndexBounds::make_ranges(const IndexMetadata& index, const std::vector<EncodedPart>& parts) {
  const std::string prefix = keyspace_prefix(index.keyspace);
  std::vector<std::string> leading{""};  // the encoded points of the parts so far
  bool open = true;                      // all intervals so far are points
  for (; covered_ < parts.size() && open; ++covered_) {
    const EncodedPart& part = parts[covered_];
    if (leading.size() > 1 && leading.size() * part.size() > kRangesMax) break;
    open = std::all_of(part.begin(), part.end(),
                       [](const EncodedInterval& interval) { return interval.point; });
    std::vector<std::string> longer;
    for (const std::string& start : leading) {
      for (const EncodedInterval& interval : part) {
        std::string low = start;
        low += interval.low;
        if (open) {
          longer.push_back(std::move(low));
        } else {
          std::string high = start;
          high += interval.high;
          ranges_.push_back({prefix + low_end(std::move(low), interval.low_inclusive),
                             prefix + high_end(std::move(high), interval.high_inclusive)});
        }
      }
    }
    leading = std::move(longer);
  }
  if (open) {
    for (const std::string& start : leading) {
      ranges_.push_back(
          covered_ == index.rules.parts.size()
              ? range_of_whole_key(index.keyspace, start)
              : KeyRange{prefix + low_end(start, true), prefix + high_end(start, true)});
    }
  }
  rest_.assign(parts.begin() + static_cast<std::ptrdiff_t>(covered_), parts.end());

  // Long bounds with a common beginning yield the same range of truncated keys. Merge such ranges.
  std::sort(ranges_.begin(), ranges_.end(),
            [](const KeyRange& a, const KeyRange& b) { return a.low < b.low; });
  std::vector<KeyRange> disjoint;
  for (KeyRange& range : ranges_) {
    if (!disjoint.empty() && range.low < disjoint.back().high) {
      disjoint.back().high = std::max(disjoint.back().high, range.high);
    } else {
      disjoint.push_back(std::move(range));
    }
  }
  ranges_ = std::move(disjoint);
}

IndexBounds::Fit IndexBounds::fit(std::string_view encoded) const {
  if (is_truncated(encoded)) return Fit::kUnknown;
  if (rest_.empty()) return Fit::kInside;
  for (size_t i = 0; i < covered_ + rest_.size(); ++i) {
    const std::optional<size_t> size = bson::key_string_size(encoded, descending_[i]);
    if (!size) return Fit::kUnknown;
    const std::string_view part = encoded.substr(0, *size);
    encoded.remove_prefix(*size);
    if (i < covered_) continue;
    const EncodedPart& intervals = rest_[i - covered_];
    const bool inside =
        std::any_of(intervals.begin(), intervals.end(), [&](const EncodedInterval& interval) {
          return (interval.low_inclusive ? interval.low <= part : interval.low < part) &&
                 (interval.high_inclusive ? part <= interval.high : part < interval.high);
        });
    if (!inside) return Fit::kOutside;
  }
  return Fit::kInside;
}

}  // namespace gridmount::local
