// Keeps the indexes of a collection in step with its documents.
//
// Used in two steps, so that a failing write changes nothing (rule S3): prepare_*() works out the
// entries that come and go and checks every unique index; apply() writes them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/format/document_keys.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

class IndexWriter {
 public:
  // `entry` must outlive this or the next set_entry().
  IndexWriter(Trees& trees, const CollectionEntry& entry);

  // DuplicateKey with keyPattern and keyValue; CannotIndexParallelArrays.
  Status prepare_insert(bson::View document, RecordId id);
  // Only indexes i with affected[i] are looked at.
  Status prepare_update(bson::View before, bson::View after, RecordId id,
                        const std::vector<bool>& affected);
  Status prepare_remove(bson::View document, RecordId id);

  // Indexes that the prepared write gives their first array; the catalog must say so before
  // apply().
  std::vector<size_t> becoming_multikey() const;

  Status apply();

 private:
  struct Change {
    KeySet removed;  // keys before
    KeySet added;    // keys after
    std::string removed_kinds;
    std::string added_kinds;
    bool active = false;
  };
  void begin(RecordId id);
  Status check_unique(size_t index, bson::View document);

  Trees& trees_;
  const CollectionEntry& entry_;
  std::vector<Change> changes_;  // one per index, buffers reused
  RecordId id_ = 0;
  std::string key_;
};

// Fills a new index from the documents there are, in bounded memory. DuplicateKey if it is unique
// and they are not; whether some document has arrays goes into `multikey`.
Status build_index(const std::shared_ptr<Trees>& trees, const CollectionEntry& entry,
                   const IndexEntry& index, bool& multikey);

struct IndexPartLimits {
  size_t entries;
  size_t bytes;  // of the entries, in memory
};

// The same for the records from the key `from` on, all if that is empty, until so many entries were
// put (of the last document all): whether these were all; `from` then is behind the last one's key.
Result<bool> build_index_part(const std::shared_ptr<Trees>& trees, const CollectionEntry& entry,
                              const IndexEntry& index, const IndexPartLimits& limits,
                              std::string& from, bool& multikey);

// "E11000 duplicate key error collection: db.c index: a_1 dup key: { a: 5 }", the details being
// {keyPattern, keyValue}. `encoded` is the key in question, `document` has it.
Error duplicate_key(const CollectionEntry& entry, const IndexEntry& index, bson::View document,
                    std::string_view encoded);

// The tree's key of an index entry.
void set_index_key(std::string& key, const IndexEntry& index, std::string_view encoded,
                   RecordId id);

}  // namespace gridmount::local
