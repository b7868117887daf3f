// What `gridstore top` shows: the difference of two samples, as a table or as a document.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/document.h"
#include "tools/gridstore/top/top_sample.h"

namespace gridmount::tools {

enum class TopOrder { kBusy, kRate, kLatency, kName };

// One kind of operations between two samples.
struct ActivityRate {
  std::string name;
  double per_second = 0;
  double seconds_each = 0;  // the mean duration
  double busy = 0;          // the sum of the durations per second; above 1: several at a time
};

// Returns the activities that had operations between the samples. kName sorts them by their names.
// The other orders sort them by a number, the largest first.
std::vector<ActivityRate> rates_between(const TopSample& before, const TopSample& now,
                                        TopOrder order);

struct TopScreen {
  std::string_view title;  // what is shown, for the first line
  TopOrder order = TopOrder::kBusy;
  size_t columns = 80;  // longer lists continue on the next line, and other lines are cut
  size_t lines = 0;     // the maximum number of lines; 0: no limit
};
// Returns lines that end with '\n'.
std::string top_text(const TopScreen& screen, const TopSample& before, const TopSample& now);

// Returns {seconds, rates: {NAME: ...}, activities: [{name, perSecond, secondsEach, busy}], state:
// [...], pending: [{what, seconds}]}.
bson::Document top_document(const TopSample& before, const TopSample& now, TopOrder order);

}  // namespace gridmount::tools
