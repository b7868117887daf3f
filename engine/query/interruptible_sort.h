// A stable sort that can be interrupted. The values of a large array, or the documents of a stage,
// may take seconds to sort.
//
// Thread-safety: a function without state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/query/interruption.h"

namespace gridmount::query {

// Sorts `values` like std::stable_sort(), but needs memory for a second vector of the same size.
// Checks the interruptions of this thread (interruption.h) during the sort. If one of them ends the
// sort, fails with its error, and `values` has unspecified contents.
template <typename T, typename Less>
Status sort_interruptibly(std::vector<T>& values, const Less& less) {
  constexpr size_t kRun = 8;
  // Each comparison counts as this many steps, because a comparison may read large values.
  constexpr size_t kSteps = 256;
  const size_t size = values.size();
  const auto at = [&values](size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
  for (size_t begin = 0; begin < size; begin += kRun) {
    GM_TRY(check_interruption_of(2 * kRun * kSteps));
    const size_t end = std::min(begin + kRun, size);
    for (size_t i = begin + 1; i < end; ++i) {
      std::rotate(std::upper_bound(at(begin), at(i), values[i], less), at(i), at(i + 1));
    }
  }
  std::vector<T> merged;
  if (size > kRun) merged.reserve(size);
  for (size_t run = kRun; run < size; run *= 2) {
    merged.clear();
    for (size_t begin = 0; begin < size; begin += 2 * run) {
      size_t left = begin;
      const size_t middle = std::min(begin + run, size);
      size_t right = middle;
      const size_t end = std::min(middle + run, size);
      while (left < middle && right < end) {
        GM_TRY(check_interruption_of(kSteps));
        merged.push_back(std::move(values[less(values[right], values[left]) ? right++ : left++]));
      }
      std::move(at(left), at(middle), std::back_inserter(merged));
      std::move(at(right), at(end), std::back_inserter(merged));
    }
    values.swap(merged);
  }
  return {};
}

}  // namespace gridmount::query
