// Executes the scans of a plan. A scan returns the records that may match, in the plan's order, and
// each record only once.
//
// Thread-safety: not thread-safe. A scan must be used by the thread that uses its Snapshot or
// Transaction.
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
  // The record's value, if the scan has already read it.
  std::optional<std::string_view> record;
  // True if the record certainly matches the filter.
  bool certain = false;
  // The encoded key and the kinds of the index entry, if an index is scanned. The views are valid
  // until the next call of next().
  std::string_view encoded = {};
  std::string_view kinds = {};
  // The scan has found this record earlier and kept its id. A write may have removed the record
  // since.
  bool remembered = false;
  // The document's text score, with ScanOptions::text_score. Unset if the index entries do not have
  // it, or if the Transaction has written since the scan read them.
  std::optional<double> text_score = {};
};

// The stats of a scan so far.
struct ScanCounts {
  int64_t keys_examined = 0;  // index entries
  int64_t given = 0;          // work items returned
  int64_t seeks = 0;          // how often the scan moved to the beginning of a range
  int64_t tested = 0;         // records that were looked up among those already returned
  int64_t dropped = 0;        // records that were left out because they had been returned
  bool ended = false;
};

class Scan {
 public:
  virtual ~Scan() = default;
  // Returns the next work item, or nothing at the end. In a Transaction, writes between two calls
  // do not make the scan wrong.
  virtual Result<std::optional<WorkItem>> next() = 0;
  // Returns whether the last record that a tailing scan has returned still exists. Scans of indexes
  // and of unions return true. Must not be called on a scan of the collection that is not tailing.
  virtual Result<bool> has_place() const { return true; }
  // Callers should call this if they will read the records of most of the next work items. In a
  // Snapshot, an index scan then finds several records at once, and returns their values with the
  // work items.
  virtual void will_read_records() {}
  // Returns the number of index entries that the scan has read.
  virtual int64_t keys_examined() const { return 0; }
  virtual ScanCounts counts() const = 0;
  // Returns the scans of a union's branches, in the plan's order. The union owns them. Any other
  // scan has no branches.
  virtual std::vector<const Scan*> branches() const { return {}; }
};

struct ScanOptions {
  // The limit, in bytes, of the memory in which a scan orders truncated keys, if the plan provides
  // a sort. A scan that needs more memory fails with QueryExceededMemoryLimitNoDiskUseAllowed
  // (292).
  uint64_t order_bytes_max = 0;
  // Only for a scan of one index: the bounds of the keys that the scan reads.
  KeyBounds limits = {};
  // Only for a scan of the collection: after the end, a later call of next() looks for new records.
  bool tailing = false;
  // Only for a forward scan of one index without arrays: the scan may skip an entry if an earlier
  // entry has the same value of the first field, and that field is certainly not missing.
  bool distinct = false;
  // Scans of a text index return the score of each document, which is the sum of the scores of its
  // entries. They read all entries before they return the first record, and keep 64 bytes of memory
  // for each record. If they need more than `order_bytes_max`, they fail with
  // QueryExceededMemoryLimitNoDiskUseAllowed (292).
  bool text_score = false;
};

std::unique_ptr<Scan> make_scan(std::shared_ptr<Trees> trees,
                                std::shared_ptr<const CollectionMetadata> metadata,
                                const query::Plan& plan, const ScanOptions& options = {});

}  // namespace gridmount::local
