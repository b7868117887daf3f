// Measures the cost of many collections: how long it takes to open a store with many, and to work
// on one of them, compared with a store that has few.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gridmount::bench {

// Costs in microseconds of wall-clock time. `read`, `insert` and `update` are medians of slices,
// after each collection has been read once.
struct CollectionCosts {
  uint64_t collections = 0;
  double create = 0;      // a collection with one document and three indexes besides _id; a
                          // transaction creates 50 collections
  double open = 0;        // the whole store
  double first_read = 0;  // the first read of a collection since the store was opened
  double read = 0;        // by a secondary index
  double insert = 0;      // one transaction each, as for update
  double update = 0;
};

// Measures each number of collections in its own store, in a folder below `temp`. Makes
// `operations` reads, inserts and updates each, which must be at least 5.
std::vector<CollectionCosts> measure_collections(const std::filesystem::path& temp,
                                                 const std::vector<uint64_t>& counts,
                                                 uint64_t operations);

// Returns one line per number of collections, and a last line with the ratio of the last to the
// first.
std::string table(const std::vector<CollectionCosts>& costs);

}  // namespace gridmount::bench
