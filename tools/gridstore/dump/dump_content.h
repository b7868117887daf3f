// Chooses the collections of a store that go into a dump, as mongodump does, with their metadata.
//
// Thread-safe: functions without state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/store.h"
#include "tools/gridstore/dump/metadata_file.h"

namespace gridmount::tools {

struct DumpedCollection {
  engine::Namespace ns;
  Metadata metadata;
};

// Returns the collections of `database`, sorted by name. An empty `database` means all except local
// and the server's internal ones, and in a deployment also except admin and config. If `collection`
// is not empty, returns only that one, and `database` must not be empty. Otherwise leaves out:
// - in admin: only system.keys;
// - in config: nothing if `database` names it, else all collections except those that describe
//   sharding and settings, which mongodump dumps too;
// - in other databases: system collections except system.js.
//
// Fails with NamespaceNotFound if a requested name does not exist.
Result<std::vector<DumpedCollection>> dumped_collections(engine::Store& store,
                                                         engine::Snapshot& snapshot,
                                                         const std::string& database,
                                                         const std::string& collection);

}  // namespace gridmount::tools
