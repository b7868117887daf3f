// Checks what a store holds below the level of documents.
//
// Thread-safe: each call reads a snapshot of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::local {

// What `gridstore check` finds below the level of documents. Each problem is one line that names
// the object.
struct StructureReport {
  uint64_t collections = 0;
  uint64_t records = 0;
  uint64_t index_entries = 0;
  std::vector<std::string> problems;  // at most kMaxProblems, then a line that counts the rest
};
inline constexpr size_t kMaxProblems = 1000;

// Reads everything in `store`: each record's checksum and BSON, each index entry against its
// document and each document against its index entries, and the counts of the catalog. Reads one
// snapshot while writers continue. `record_read`, if set, is called for each record. `store` must
// come from open().
Result<StructureReport> check_structure(engine::Store& store,
                                        const std::function<void()>& record_read = {});

// Returns the most dangerous problems: errors in the list of free pages, and pages that are in use
// twice. Any write may destroy what such a store holds. compact_store() makes a new list.
Result<std::vector<std::string>> free_list_problems(engine::Store& store);

// Returns the number of damaged pages of the trees. check_structure() reports the resulting
// problems one by one. Avoid all writes to such a store: use salvage_store().
Result<uint64_t> damaged_pages(engine::Store& store);

}  // namespace gridmount::local
