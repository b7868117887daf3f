// Reads the whole catalog for check and repair: who owns which keyspace, and which keys belong to
// nothing.
//
// Thread-safety: that of the Trees passed in, which belong to one Snapshot or Transaction.
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
  // A key that should not exist. A key that is not removable may be all that is left of something:
  // a key of unknown kind, or the key of a collection without the collection's name.
  struct OrphanKey {
    std::string key;
    std::string what;
    bool removable = true;
  };
  std::vector<OrphanKey> orphan;
  // Collections with a TTL index that are missing from the list of expiring collections.
  std::vector<engine::Namespace> expiring_unlisted;
  // The errors for collections whose entries cannot be read. Their keyspaces are unknown.
  std::vector<std::string> unreadable;

  std::map<uint32_t, std::string> owners;  // by prefix, released keyspaces included
  std::vector<uint32_t> keyspaces;         // the number of keyspaces per tree
  std::map<uint32_t, std::string> shared;  // prefixes that two owners claim, with a message

  // Returns whether every keyspace that is not in `owners` certainly belongs to nothing.
  bool knows_all_keyspaces() const;
  // Returns whether no other collection claims a keyspace of this one.
  bool is_alone(const CollectionMetadata& metadata) const;
};

Result<CatalogSurvey> survey_catalog(const std::shared_ptr<Trees>& trees, Catalog& catalog);

}  // namespace gridmount::local
