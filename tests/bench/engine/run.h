// Measures gridmount's document store and SQLite. Divides the operations of each row (rows.h) into
// slices, and lets both systems run each slice, one after the other. Checks that both find and hold
// the same documents.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/engine/rows.h"
#include "tests/bench/engine/system.h"

namespace gridmount::bench {

struct Taken {
  double work_seconds = 0;    // for the operations
  double cpu_seconds = 0;     // processor time of all threads for the operations
  double settle_seconds = 0;  // after writes, until everything is durable
  double seconds() const { return work_seconds + settle_seconds; }
};

struct Measured {
  Row row;
  // One entry per slice. All slices have the same share of the row's operations.
  std::vector<Taken> gridmount;
  std::vector<Taken> sqlite;
  // The footprints after the last slice of the row.
  Footprint gridmount_footprint;
  Footprint sqlite_footprint;
};

struct RunOptions {
  Sizes sizes;
  SystemOptions systems;
  bool compare_all = false;  // compares every document after every row, instead of a sample
};

struct Figures {
  std::vector<Measured> rows;
  // Processor time of one load from a random position of gridmount's mapped data.mdb, measured
  // after all rows (memory_load.h).
  double load_seconds = 0;
};

// Runs in new folders below `temp`, which are removed at the end. Throws std::runtime_error if
// anything fails or the systems differ, and then leaves the folders.
Figures run(const RunOptions& options, const std::filesystem::path& temp);

}  // namespace gridmount::bench
