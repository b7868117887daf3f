// Prints the measurements of a run as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "tests/bench/engine/run.h"

namespace gridmount::bench {

// Returns one line per row: both rates, the ratio of gridmount's rate to SQLite's, how far the
// ratio varies over the slices, and the disk space of both.
std::string table(const std::vector<Measured>& rows);

// The results at one number of documents.
struct Grown {
  uint64_t documents;
  Figures figures;
};
// Returns one line per row and system: the microseconds of processor time per operation at each
// size, and the ratio of the last to the first. The time until all is durable is left out, because
// it does not belong to a single operation. The last line has the time of one memory load at each
// size.
std::string growth_table(const std::vector<Grown>& runs);

// Returns {documents, rows: [{key, label, unit, gridmount: {rate, units, work_seconds, cpu_seconds,
// settle_seconds}, sqlite: {...}, ratio, spread, gridmount_after: {documents, disk_bytes},
// sqlite_after: {...}}], load_seconds}.
bson::Document as_document(const Grown& run);

}  // namespace gridmount::bench
