// Checks what is below the documents of a store: the checksums and the BSON of records, index
// entries, counts, the catalog, and LMDB's pages.
//
// Thread-safe: each call reads its own snapshots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::local {

// The result of check_structure(). Each problem is one line that names the object.
struct StructureReport {
  uint64_t collections = 0;
  uint64_t records = 0;
  uint64_t index_entries = 0;
  std::vector<std::string> problems;  // up to kMaxProblems, then one line with the number of the
                                      // rest
};
inline constexpr size_t kMaxProblems = 1000;

// Reads everything in `store`. Checks the checksum and the BSON of each record, compares index
// entries with documents in both directions, and checks the catalog and the lists of pages. Reads a
// snapshot while writers continue; after a damaged page the check continues with a new snapshot. If
// `record_read` is set, calls it for each record. The functions of this header fail with
// IllegalOperation if `store` does not come from open(), or if no MapGuard guards data.mdb.
Result<StructureReport> check_structure(engine::Store& store,
                                        const std::function<void()>& record_read = {});

// Returns the most dangerous problems: errors in the list of free pages, and pages that are in use
// twice. If there are such problems, every write to the store may destroy data. compact_store()
// makes a new list of free pages.
Result<std::vector<std::string>> free_list_problems(engine::Store& store);

// Returns the number of damaged pages in the trees. check_structure() reports the problems that
// they cause. If there are damaged pages, use salvage_store(), and do not write to the store.
Result<uint64_t> damaged_pages(engine::Store& store);

}  // namespace gridmount::local
