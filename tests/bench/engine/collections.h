// The cost of many collections: opening a store, and operations on any of its collections, compared
// with a store that has few.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gridmount::bench {

// Microseconds, of wall-clock time. Operations are medians of slices, after each collection has
// been read once.
struct CollectionCosts {
  uint64_t collections = 0;
  double create = 0;      // a collection with three indexes beside _id and one document, committed
  double open = 0;        // the store
  double first_read = 0;  // the first of a collection since the store was opened
  double read = 0;        // by a secondary index
  double insert = 0;      // a transaction each, as the next
  double update = 0;
};

// For each number of collections a store of its own, in a folder below `temp`.
std::vector<CollectionCosts> measure_collections(const std::filesystem::path& temp,
                                                 const std::vector<uint64_t>& counts,
                                                 uint64_t operations);

// A line a number of collections, and the last by the first.
std::string table(const std::vector<CollectionCosts>& costs);

}  // namespace gridmount::bench
