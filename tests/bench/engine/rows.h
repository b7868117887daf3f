// The rows of the table: which operation runs on both systems, and how often.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "documents.h"
#include "system.h"

namespace gridmount::bench {

struct Sizes {
  uint64_t documents = 0;  // of the first row, which fills the store
  uint64_t operations =
      0;  // of the other rows, at most as many; scans and durable inserts are fewer
  uint64_t durable = 0;
  uint64_t slices = 0;
  uint64_t warm_up = 0;  // reads before each row of them; fewer scans

  // What all inserts put in.
  Number total() const { return static_cast<Number>(documents + 2 * operations + durable); }
};

struct Row {
  std::string key;
  std::string label;
  std::string unit;         // what the rate counts, a second
  uint64_t operations = 0;  // of all slices
  uint64_t slices = 0;
  uint64_t units_per_operation = 1;
  bool writes = false;  // the time until all is durable belongs to it
  // Not measured; may be empty.
  std::function<void(System&, Slice)> prepare = {};
  Slice warm_up = {};  // operations that come before, not measured
  // Operations by number. Returns what it found or changed, which is the same for both systems.
  std::function<uint64_t(System&, Slice)> run = {};
};

// In the order in which they must run. `documents` outlives them.
std::vector<Row> make_rows(const Documents& documents, const Sizes& sizes);

}  // namespace gridmount::bench
