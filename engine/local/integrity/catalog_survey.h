// Reads the whole catalog for check and repair. Finds the owner of each keyspace, and the keys that
// belong to nothing.
//
// Thread-safety: must be used by the thread that uses the Snapshot or Transaction of the Trees.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/catalog/catalog.h"
#include "engine/local/storage/trees.h"
#include "engine/store.h"

namespace gridmount::local {

struct CatalogSurvey {
  // A key that should not exist. A key is not removable if it may be the only trace of something: a
  // key of an unknown kind, a key of a collection without the collection's name, a key of the table
  // of keyspaces that has the wrong form, or counts that may belong to a collection whose entry
  // cannot be read.
  struct OrphanKey {
    std::string key;
    std::string what;
    bool removable = true;
  };
  std::vector<OrphanKey> orphan;
  // Collections with a TTL index that are missing from the list of expiring collections.
  std::vector<engine::Namespace> expiring_unlisted;
  // One error message for each collection whose entry cannot be read. The keyspaces of these
  // collections are unknown.
  std::vector<std::string> unreadable;

  std::map<uint32_t, std::string> owners;  // names of owners by prefix; released keyspaces are
                                           // included
  std::vector<uint32_t> keyspaces;         // the number of keyspaces per tree
  std::map<uint32_t, std::string> shared;  // prefixes with two owners, each with a message

  // Returns whether `owners` is complete. If so, a keyspace that is not in `owners` belongs to
  // nothing.
  bool knows_all_keyspaces() const;
  // Returns true if no keyspace of the collection has a second owner.
  bool is_alone(const CollectionMetadata& metadata) const;
};

// Surveys the catalog that `trees` and `catalog` show. A damaged entry of a collection is no error:
// `unreadable` has its message. Fails as AscendingCursor::next() does if the keys of the catalog's
// tree cannot be read.
Result<CatalogSurvey> survey_catalog(const std::shared_ptr<Trees>& trees, Catalog& catalog);

}  // namespace gridmount::local
