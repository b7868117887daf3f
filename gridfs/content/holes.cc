#include "gridfs/content/holes.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace gridmount::gridfs {

bool Holes::contains(int64_t n) const {
  return end_of_run(n) != n;
}

int64_t Holes::end_of_run(int64_t n) const {
  const auto after = runs_.upper_bound(n);
  if (after == runs_.begin()) return n;
  return std::max(n, std::prev(after)->second);
}

int64_t Holes::next_run(int64_t n) const {
  if (contains(n)) return n;
  const auto after = runs_.lower_bound(n);
  return after == runs_.end() ? std::numeric_limits<int64_t>::max() : after->first;
}

void Holes::add(int64_t first, int64_t last) {
  if (first >= last) return;
  auto begin = runs_.upper_bound(first);
  if (begin != runs_.begin() && std::prev(begin)->second >= first) --begin;
  auto end = begin;
  int64_t known = 0;
  for (; end != runs_.end() && end->first <= last; ++end) {
    known += end->second - end->first;
    first = std::min(first, end->first);
    last = std::max(last, end->second);
  }
  if (begin != end && begin->first == first) {
    begin->second = last;
    ++begin;
  } else {
    runs_.emplace(first, last);
  }
  runs_.erase(begin, end);
  chunks_ += last - first - known;
}

void Holes::fill(int64_t n) {
  auto run = runs_.upper_bound(n);
  if (run == runs_.begin()) return;
  --run;
  const auto [first, last] = *run;
  if (n >= last) return;
  if (n + 1 < last) runs_.emplace(n + 1, last);
  if (first < n) {
    run->second = n;
  } else {
    runs_.erase(run);
  }
  --chunks_;
}

void Holes::cut(int64_t end) {
  const auto behind = runs_.lower_bound(end);
  for (auto run = behind; run != runs_.end(); ++run) chunks_ -= run->second - run->first;
  runs_.erase(behind, runs_.end());
  if (runs_.empty()) return;
  auto& last = std::prev(runs_.end())->second;
  chunks_ -= std::max<int64_t>(last - end, 0);
  last = std::min(last, end);
}

void Holes::clear() {
  runs_.clear();
  chunks_ = 0;
}

}  // namespace gridmount::gridfs
