// Repairs one collection: first its records, then the entries of its indexes, then its counts.
//
// A repair runs in transactions of bounded size, and each of them leaves a consistent state. So
// after an interruption, the repair can begin again.
//
// Thread-safety: not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/catalog/catalog.h"
#include "engine/local/catalog/read_view.h"
#include "engine/local/format/index_key_generation.h"
#include "engine/local/format/record.h"
#include "engine/local/integrity/structure_repair.h"
#include "engine/local/storage/overflow_page.h"

namespace gridmount::local {

class CollectionRepair {
 public:
  // `store` must be a LocalStore that is open for writing. `store` and `options` must outlive this
  // object.
  CollectionRepair(engine::Store& store, engine::Namespace ns, const RepairOptions& options)
      : store_(store), ns_(std::move(ns)), options_(options) {}

  // Repairs the collection. Must be called only once. If run() fails because of damage, the rest of
  // the collection cannot be repaired.
  Status run();

  // Returns how often run() has called RepairOptions::repaired.
  uint64_t repaired() const { return repaired_; }
  // Returns one line for each object that is still damaged, also if run() succeeds. Returns no more
  // than kMaxProblems lines (structure_check.h).
  const std::vector<std::string>& unrepairable() const { return unrepairable_; }
  // Returns how many records run() has examined, removed ones included.
  uint64_t records() const { return records_; }
  // Returns whether the collection has fewer documents than the catalog's count, or the count could
  // not be read.
  bool lost_documents() const { return lost_documents_; }

 private:
  // The work of one transaction. `lines` are reported after the commit.
  struct Step {
    ReadView* read_view = nullptr;
    std::shared_ptr<const CollectionMetadata> metadata;
    std::vector<std::string> lines;
    uint64_t looked_at = 0;
    uint64_t changes = 0;
    uint64_t bytes = 0;
    bool full() const;
  };
  struct IndexTally {
    uint64_t expected = 0;  // entries that the documents require
    uint64_t added = 0;
    uint64_t corrected = 0;
    uint64_t removed = 0;
  };
  struct MissingEntry {
    size_t index;
    bool corrects;  // replaces an entry with the same key
    std::string key;
    std::string value;
  };
  // Why a document cannot be indexed: a conflicting record, or the document itself.
  struct Conflict {
    RecordId record;
    std::string why;
  };

  // Runs `work` in several transactions, one after another, until it returns true.
  Status in_steps(const std::function<Result<bool>(Step&)>& work);

  Result<bool> repair_records(Step& step);
  Status repair_record(Step& step, const TreeEntry& record);
  Status repair_patch(Step& step, const TreeEntry& entry);
  Status index_document(Step& step, RecordId id);
  // Finds the entries that the document lacks. Writes nothing.
  Result<std::optional<Conflict>> find_missing(const Step& step, RecordId id, bson::View document,
                                               std::vector<MissingEntry>& missing);
  // Returns the record that the entry of a unique index names, if the record is sound and its
  // document has the entry's key. Otherwise returns nothing.
  Result<std::optional<RecordId>> rightful_owner(const Step& step, const IndexMetadata& index,
                                                 const TreeEntry& entry);
  Status put_entries(Step& step, const std::vector<MissingEntry>& missing);
  Status mark_multikey(Step& step);
  // Gives outdated indexes the version of the present library, which has made all their entries
  // anew.
  Status mark_current(Step& step);
  Status remove_bytes(Step& step, const TreeEntry& record, const std::string& what,
                      const std::string& why);
  Status remove_document(Step& step, RecordId id, bson::View document, const std::string& why);

  Result<bool> repair_index(Step& step, size_t index, std::string& from);
  Result<bool> is_backed(const Step& step, const IndexMetadata& index, const TreeEntry& entry);
  Result<uint64_t> count_entries(size_t index);

  Status repair_counts(Step& step);
  Status repair_all();
  // Returns false if the record must not be removed, and reports that it cannot be repaired.
  bool can_be_removed(const TreeEntry& record, RecordId id);
  void report_unrepairable(const std::string& what);
  void report(const std::string& line);
  void report_tallies();

  engine::Store& store_;
  const engine::Namespace ns_;
  const RepairOptions& options_;
  uint64_t repaired_ = 0;
  uint64_t records_ = 0;
  bool lost_documents_ = false;
  std::vector<std::string> unrepairable_;
  OverflowPages pages_;

  std::string from_;  // the key at which the next step begins
  RecordId last_ = 0;
  int64_t documents_ = 0;
  int64_t bytes_ = 0;
  std::vector<IndexTally> tallies_;
  std::vector<std::string> index_names_;
  std::vector<bool> multikey_;  // per index: the catalog or a document shows that it is multikey
  KeySet keys_;
  KeySet other_keys_;
};

}  // namespace gridmount::local
