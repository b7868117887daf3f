#include "gridfs/bucket/allocated_ranges.h"

#include <algorithm>
#include <limits>

namespace gridmount::gridfs {

int64_t AllocatedRanges::bytes() const {
  int64_t sum = 0;
  for (const Run& run : runs_) sum += run.end - run.begin;
  return sum;
}

bool AllocatedRanges::add(int64_t begin, int64_t end) {
  if (begin >= end) return false;
  // The runs that overlap or touch the range.
  const auto first = std::partition_point(runs_.begin(), runs_.end(),
                                          [&](const Run& run) { return run.end < begin; });
  const auto last =
      std::partition_point(first, runs_.end(), [&](const Run& run) { return run.begin <= end; });
  Run joined{begin, end};
  if (first != last) {
    if (first->begin <= begin && end <= first->end) return false;
    joined = {std::min(begin, first->begin), std::max(end, (last - 1)->end)};
  }
  runs_.insert(runs_.erase(first, last), joined);
  enforce_run_limit();
  return true;
}

bool AllocatedRanges::remove(int64_t begin, int64_t end) {
  if (begin >= end) return false;
  // The runs that overlap the range.
  const auto first = std::partition_point(runs_.begin(), runs_.end(),
                                          [&](const Run& run) { return run.end <= begin; });
  const auto last =
      std::partition_point(first, runs_.end(), [&](const Run& run) { return run.begin < end; });
  if (first == last) return false;
  std::vector<Run> rest;
  if (first->begin < begin) rest.push_back({first->begin, begin});
  if (end < (last - 1)->end) rest.push_back({end, (last - 1)->end});
  runs_.insert(runs_.erase(first, last), rest.begin(), rest.end());
  enforce_run_limit();
  return true;
}

bool AllocatedRanges::cut(int64_t end) {
  return remove(end, std::numeric_limits<int64_t>::max());
}

void AllocatedRanges::enforce_run_limit() {
  if (runs_.size() <= kRunsMax) return;
  runs_.erase(std::min_element(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
    return a.end - a.begin < b.end - b.begin;
  }));
}

}  // namespace gridmount::gridfs
