// Executes a plan: gives the records that may match, in the plan's order, each once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/format/record.h"
#include "engine/local/queries/key_limits.h"
#include "engine/local/storage/trees.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

struct Candidate {
  RecordId id = 0;
  // The record's value where the scan came by it anyway.
  std::optional<std::string_view> record;
  // The filter is known to match.
  bool certain = false;
  // Of an index: the entry, while the scan stands on it.
  std::string_view encoded = {};
  std::string_view kinds = {};
  // Found before earlier candidates were given: a write in between may have removed it.
  bool remembered = false;
};

// What a scan has done so far.
struct ScanCounts {
  int64_t keys_examined = 0;  // index entries
  int64_t given = 0;          // candidates
  int64_t seeks = 0;          // how often it went to the beginning of a range
  int64_t tested = 0;         // records looked up among those given before
  int64_t dropped = 0;        // and found there
  bool ended = false;
};

class Scan {
 public:
  virtual ~Scan() = default;
  // Nothing at the end. On a Transaction the scan goes on correctly after writes.
  virtual Result<std::optional<Candidate>> next() = 0;
  // Of a tailing scan: whether the record given last is still there.
  virtual Result<bool> has_place() const { return true; }
  // To be called before next(): the records of the most candidates will be read. A scan of an index
  // finds several at once then, on a Snapshot, and gives them with the candidates.
  virtual void will_read_records() {}
  // How many index entries it has read.
  virtual int64_t keys_examined() const { return 0; }
  virtual ScanCounts counts() const = 0;
  // Of a union, as the plan's branches.
  virtual std::vector<const Scan*> branches() const { return {}; }
};

struct ScanOptions {
  // Bounds the memory for putting keys longer than LMDB's in order, where the plan provides a sort;
  // beyond it QueryExceededMemoryLimit.
  uint64_t order_bytes_max = 0;
  // Of a scan of one index.
  KeyLimits limits = {};
  // Of a scan of the collection: at the end a later call looks again.
  bool tailing = false;
  // Of a scan of one index, forward and without arrays: entries that have the leading value of one
  // given before may be passed over, unless that one may stand for a missing field.
  bool distinct = false;
};

std::unique_ptr<Scan> make_scan(std::shared_ptr<Trees> trees,
                                std::shared_ptr<const CollectionEntry> entry,
                                const query::Plan& plan, const ScanOptions& options = {});

}  // namespace gridmount::local
