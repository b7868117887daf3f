// Executes a plan. A scan returns the records that may match, in the plan's order, each once.
//
// Thread-safety: not thread-safe. A scan belongs to its Snapshot or Transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/local/format/record.h"
#include "engine/local/queries/key_bounds.h"
#include "engine/local/storage/trees.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

struct WorkItem {
  RecordId id = 0;
  // The record's value, if the scan has it anyway.
  std::optional<std::string_view> record;
  // True if the filter is known to match.
  bool certain = false;
  // For an index scan: the entry. The views are valid until the next call of next().
  std::string_view encoded = {};
  std::string_view kinds = {};
  // The scan found this record ahead of time and kept it. A write since then may have removed it.
  bool remembered = false;
};

// The stats of a scan so far.
struct ScanCounts {
  int64_t keys_examined = 0;  // index entries
  int64_t given = 0;          // work items returned
  int64_t seeks = 0;          // how often it moved to the beginning of a range
  int64_t tested = 0;         // records looked up among those already returned
  int64_t dropped = 0;        // records found there and dropped
  bool ended = false;
};

class Scan {
 public:
  virtual ~Scan() = default;
  // Returns the next work item, or nothing at the end. On a Transaction the scan stays correct
  // after writes.
  virtual Result<std::optional<WorkItem>> next() = 0;
  // For a tailing scan: returns whether the record returned last still exists.
  virtual Result<bool> has_place() const { return true; }
  // Call this if the records of most of the next work items will be read. On a Snapshot, an index
  // scan then finds several records at once and returns their values with the work items.
  virtual void will_read_records() {}
  // Returns the number of index entries read.
  virtual int64_t keys_examined() const { return 0; }
  virtual ScanCounts counts() const = 0;
  // Returns the scans of a union's branches, in the plan's order. Any other scan has no branches.
  virtual std::vector<const Scan*> branches() const { return {}; }
};

struct ScanOptions {
  // The most bytes of memory to order truncated keys, if the plan provides a sort. A scan that
  // needs more fails with QueryExceededMemoryLimitNoDiskUseAllowed.
  uint64_t order_bytes_max = 0;
  // The keys between which a scan of one index reads.
  KeyBounds limits = {};
  // Only for a scan of the collection: after the end, a later call looks for new records.
  bool tailing = false;
  // Only for a forward scan of one index without arrays: the scan may skip entries that have the
  // same leading value as an earlier entry, unless the earlier entry may stand for a missing field.
  bool distinct = false;
};

std::unique_ptr<Scan> make_scan(std::shared_ptr<Trees> trees,
                                std::shared_ptr<const CollectionMetadata> metadata,
                                const query::Plan& plan, const ScanOptions& options = {});

}  // namespace gridmount::local
