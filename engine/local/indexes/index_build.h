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

// Fills a new index from the collection's documents, in bounded memory. Sets `multikey` if some
// document has an array under the index's paths. Fails with DuplicateKey if the index is unique and
// the documents are not.
Status build_index(const std::shared_ptr<Trees>& trees, const CollectionMetadata& metadata,
                   const IndexMetadata& index, bool& multikey);

struct IndexPartLimits {
  size_t entries;
  size_t bytes;  // the size of the entries in memory
};

// Like build_index(), for a part of the records: from the key `from` on, or from the first record
// if `from` is empty. Stops after the document with which a limit is reached. Returns whether all
// records are done. Sets `from` to a place after the key of the last record that was read.
Result<bool> build_index_part(const std::shared_ptr<Trees>& trees,
                              const CollectionMetadata& metadata, const IndexMetadata& index,
                              const IndexPartLimits& limits, std::string& from, bool& multikey);

}  // namespace gridmount::local
