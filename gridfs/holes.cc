#include "gridfs/holes.h"

#include <algorithm>
#include <iterator>

namespace gridmount::gridfs {

bool Holes::contains(int64_t n) const {
  return end_of_run(n) != n;
}

int64_t Holes::end_of_run(int64_t n) const {
  const auto after = runs_.upper_bound(n);
  if (after == runs_.begin()) return n;
  return std::max(n, std::prev(after)->second);
}

void Holes::add(int64_t first, int64_t last) {
  if (first >= last) return;
  auto run = runs_.upper_bound(first);
  if (run != runs_.begin() && std::prev(run)->second >= first) --run;
  while (run != runs_.end() && run->first <= last) {
    first = std::min(first, run->first);
    last = std::max(last, run->second);
    run = runs_.erase(run);
  }
  runs_.emplace(first, last);
}

void Holes::fill(int64_t n) {
  auto run = runs_.upper_bound(n);
  if (run == runs_.begin()) return;
  --run;
  const auto [first, last] = *run;
  if (n >= last) return;
  runs_.erase(run);
  if (first < n) runs_.emplace(first, n);
  if (n + 1 < last) runs_.emplace(n + 1, last);
}

void Holes::cut(int64_t end) {
  runs_.erase(runs_.lower_bound(end), runs_.end());
  if (runs_.empty()) return;
  auto& last = std::prev(runs_.end())->second;
  last = std::min(last, end);
}

}  // namespace gridmount::gridfs
