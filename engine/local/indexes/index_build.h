// Fills a new index.
//
// Thread-safety: the caller must hold the store's write lock, like all callers of Trees that write.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "engine/base/error.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

// Fills a new index from the collection's documents, in bounded memory. Sets `multikey` to true if
// KeySet::multikey() is true for some document, otherwise does not change `multikey`. Fails with
// DuplicateKey if the index is unique and two documents have the same key, with the errors of
// extract_keys(), and with DataCorruptionDetected or StoreDamaged if the store is damaged. After an
// error the index may have some of its entries.
Status build_index(const std::shared_ptr<Trees>& trees, const CollectionMetadata& metadata,
                   const IndexMetadata& index, bool& multikey);

struct IndexBuildLimits {
  size_t entries;  // the number of entries
  size_t bytes;    // the size of the entries in memory
};

// Like build_index(), but reads only records from the tree key `from` on. An empty `from` means the
// first record. Stops after the document that reaches the limit of entries or exceeds the limit of
// bytes. Sets `from` to the value for the next call. Returns true if there are no more records.
Result<bool> build_index_step(const std::shared_ptr<Trees>& trees,
                              const CollectionMetadata& metadata, const IndexMetadata& index,
                              const IndexBuildLimits& limits, std::string& from, bool& multikey);

}  // namespace gridmount::local
