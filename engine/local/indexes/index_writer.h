// Keeps the indexes of a collection consistent with its documents.
//
// Each write has two steps, so that a failed write changes nothing (rule S3 of engine/store.h).
// First prepare_*() computes the entries to remove and to add, and checks every unique index. Then
// apply() makes these changes.
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
#include "engine/local/format/collection_metadata.h"
#include "engine/local/format/index_key_generation.h"
#include "engine/local/format/index_key_spec.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

class IndexWriter {
 public:
  // `trees` and `metadata` must outlive this object.
  IndexWriter(Trees& trees, const CollectionMetadata& metadata);

  // Fails with DuplicateKey (details: keyPattern and keyValue), with the errors of extract_keys(),
  // and with DataCorruptionDetected or StoreDamaged for a damaged entry of a unique index.
  Status prepare_insert(bson::View document, RecordId id);
  // Considers only the indexes i for which `affected[i]` is true. Fails as prepare_insert() does.
  Status prepare_update(bson::View before, bson::View after, RecordId id,
                        const std::vector<bool>& affected);
  Status prepare_remove(bson::View document, RecordId id);

  // Returns the positions (in CollectionMetadata::indexes) of the indexes that the prepared write
  // makes multikey (KeySet::multikey()). The caller must mark them as multikey in the catalog
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
  const CollectionMetadata& metadata_;
  std::vector<Change> changes_;  // one per index, buffers reused
  RecordId id_ = 0;
  std::string key_;
};

// Sets `key` to the key of an index entry in the tree.
void set_index_key(std::string& key, const IndexMetadata& index, std::string_view encoded,
                   RecordId id);

}  // namespace gridmount::local
