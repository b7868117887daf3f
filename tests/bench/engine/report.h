// Prints the measurements of a run as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "run.h"

namespace gridmount::bench {

// A line a row: both rates, gridmount's by SQLite's, and how far the ratio spreads over the slices.
std::string table(const std::vector<Measured>& rows);

// A line a row and system: microseconds of the process's processor time an operation, at
// each number of documents, and the last by the first. Without the time until all is durable, which
// does not come with each operation.
// The last line is what memory takes for one load at those sizes.
struct Grown {
  uint64_t documents;
  Figures figures;
};
std::string growth_table(const std::vector<Grown>& runs);

// {documents, rows: [{key, label, unit, gridmount: {rate, units, work_seconds, cpu_seconds,
// settle_seconds}, sqlite: {...}, ratio, spread}],
// load_seconds}
bson::Document as_document(const Grown& run);

}  // namespace gridmount::bench
