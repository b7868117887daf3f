// The rows of the table. A row says which operation runs on both systems, and how often.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/engine/documents.h"
#include "tests/bench/engine/system.h"

namespace gridmount::bench {

struct Sizes {
  uint64_t documents = 0;  // inserted by the first row, which fills the store
  uint64_t operations =
      0;  // the maximum for each of the other rows; scans and durable inserts are fewer
  uint64_t durable = 0;
  uint64_t slices = 0;
  uint64_t warm_up = 0;  // how many reads run before each row of reads; fewer for scans

  // The number of documents after all inserts.
  Number total() const { return static_cast<Number>(documents + 2 * operations + durable); }
};

struct Row {
  std::string key;
  std::string label;
  std::string unit;         // what the rate counts per second
  uint64_t operations = 0;  // in all slices together
  uint64_t slices = 0;
  uint64_t units_per_operation = 1;
  bool writes = false;  // the time until all is durable is counted too
  // Runs before each slice and is not measured. May be empty.
  std::function<void(System&, Slice)> prepare = {};
  Slice warm_up = {};  // operations that run before the row and are not measured
  // Runs operations by number. Returns what it found or changed, which must be the same for both
  // systems.
  std::function<uint64_t(System&, Slice)> run = {};
};

// Returns the rows in the order in which they must run. `documents` must outlive them.
std::vector<Row> make_rows(const Documents& documents, const Sizes& sizes);

}  // namespace gridmount::bench
