// Keeps the indexes of a collection consistent with its documents.
//
// Each write takes two steps, so that a failing write changes nothing (rule S3). First prepare_*()
// computes the entries to remove and to add, and checks every unique index. Then apply() writes
// them.
//
// Thread-safety: not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/format/index_key_generation.h"
#include "engine/local/format/index_key_spec.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

class IndexWriter {
 public:
  // `entry` must outlive this.
  IndexWriter(Trees& trees, const CollectionEntry& entry);

  // Fails with DuplicateKey (details: keyPattern and keyValue) or CannotIndexParallelArrays.
  Status prepare_insert(bson::View document, RecordId id);
  // Considers only the indexes i with affected[i].
  Status prepare_update(bson::View before, bson::View after, RecordId id,
                        const std::vector<bool>& affected);
  Status prepare_remove(bson::View document, RecordId id);

  // Returns the indexes that get their first array by the prepared write. The catalog must say so
  // before apply().
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

// Fills a new index from the collection's documents, in bounded memory. Sets `multikey` if some
// document has an array under the index's paths. Fails with DuplicateKey if the index is unique and
// the documents are not.
Status build_index(const std::shared_ptr<Trees>& trees, const CollectionEntry& entry,
                   const IndexEntry& index, bool& multikey);

struct IndexPartLimits {
  size_t entries;
  size_t bytes;  // the size of the entries in memory
};

// Like build_index(), for a part of the records: from the key `from` on, or from the first record
// if `from` is empty. Stops after the document with which a limit is reached. Returns whether all
// records are done. Sets `from` to a place after the key of the last record that was read.
Result<bool> build_index_part(const std::shared_ptr<Trees>& trees, const CollectionEntry& entry,
                              const IndexEntry& index, const IndexPartLimits& limits,
                              std::string& from, bool& multikey);

// Returns "E11000 duplicate key error collection: db.c index: a_1 dup key: { a: 5 }" with the
// details {keyPattern, keyValue}. `encoded` is the duplicate key, and `document` has it.
Error duplicate_key(const CollectionEntry& entry, const IndexEntry& index, bson::View document,
                    std::string_view encoded);

// Sets `key` to the key of an index entry in the tree.
void set_index_key(std::string& key, const IndexEntry& index, std::string_view encoded,
                   RecordId id);

}  // namespace gridmount::local
