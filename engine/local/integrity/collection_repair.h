// Mends one collection: its records, then the entries of its indexes, then its counts.
//
// Each step is a transaction of bounded size that leaves what it has mended and no more, so a
// repair that ends anywhere is begun again from the start.
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
#include "engine/local/catalog/contents.h"
#include "engine/local/format/document_keys.h"
#include "engine/local/format/record.h"
#include "engine/local/local_store.h"
#include "engine/local/storage/overflow_page.h"

namespace gridmount::local {

class CollectionRepair {
 public:
  CollectionRepair(engine::Store& store, engine::Namespace ns, const RepairOptions& options)
      : store_(store), ns_(std::move(ns)), options_(options) {}

  // An error of damage says that the rest of the collection is beyond repair.
  Status run();

  uint64_t mended() const { return mended_; }
  // What stays as it is, whatever run() returns.
  const std::vector<std::string>& beyond_repair() const { return beyond_repair_; }
  uint64_t records() const { return records_; }
  // There are fewer documents than the catalog counted, or it could not tell.
  bool lost_documents() const { return lost_documents_; }

 private:
  // What one transaction has done, told once it is committed.
  struct Step {
    Contents* contents = nullptr;
    std::shared_ptr<const CollectionEntry> entry;
    std::vector<std::string> lines;
    uint64_t looked_at = 0;
    uint64_t changes = 0;
    uint64_t bytes = 0;
    bool full() const;
  };
  struct IndexTally {
    uint64_t expected = 0;  // entries the documents give
    uint64_t added = 0;
    uint64_t corrected = 0;
    uint64_t removed = 0;
  };
  struct MissingEntry {
    size_t index;
    bool corrects;  // an entry of the same key
    std::string key;
    std::string value;
  };
  // Why a document cannot be indexed: the record that stands in its way, or the document itself.
  struct Conflict {
    RecordId record;
    std::string why;
  };

  // Runs `work` in transactions until it says that nothing is left.
  Status in_steps(const std::function<Result<bool>(Step&)>& work);

  Result<bool> mend_records(Step& step);
  Status mend_record(Step& step, const TreeEntry& record);
  Status index_document(Step& step, RecordId id);
  // Which entries the document lacks. Writes nothing.
  Result<std::optional<Conflict>> find_missing(const Step& step, RecordId id, bson::View document,
                                               std::vector<MissingEntry>& missing);
  // The record that has the unique entry's key and stands there rightly; nothing if none does.
  Result<std::optional<RecordId>> rightful_owner(const Step& step, const IndexEntry& index,
                                                 const TreeEntry& entry);
  Status put_entries(Step& step, const std::vector<MissingEntry>& missing);
  Status mark_multikey(Step& step);
  Status take_out_bytes(Step& step, const TreeEntry& record, const std::string& what,
                        const std::string& why);
  Status take_out_document(Step& step, RecordId id, bson::View document, const std::string& why);

  Result<bool> mend_index(Step& step, size_t index, std::string& from);
  Result<bool> is_backed(const Step& step, const IndexEntry& index, const TreeEntry& entry);
  Result<uint64_t> count_entries(size_t index);

  Status mend_counts(Step& step);
  Status mend_all();
  // False if the record must not be touched; it then counts among those that are beyond repair.
  bool can_be_removed(const TreeEntry& record, RecordId id);
  void note_beyond_repair(const std::string& what);
  void tell(const std::string& line);
  void tell_tallies();

  engine::Store& store_;
  const engine::Namespace ns_;
  const RepairOptions& options_;
  uint64_t mended_ = 0;
  uint64_t records_ = 0;
  bool lost_documents_ = false;
  std::vector<std::string> beyond_repair_;
  OverflowPages pages_;

  std::string from_;  // the key the next step begins with
  RecordId last_ = 0;
  int64_t documents_ = 0;
  int64_t bytes_ = 0;
  std::vector<IndexTally> tallies_;
  std::vector<std::string> index_names_;
  std::vector<bool> multikey_;  // seen or noted
  KeySet keys_;
  KeySet other_keys_;
};

}  // namespace gridmount::local
