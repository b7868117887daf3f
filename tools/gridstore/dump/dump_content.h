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

// Returns the collections of `database`, sorted by name. An empty `database` means all except
// local. If `collection` is not empty, returns only that one. Unless they are requested by name,
// system collections are left out (except in admin, and except system.js), and so are the
// collections of config that servers maintain themselves. Fails with NamespaceNotFound if a
// requested name does not exist.
Result<std::vector<DumpedCollection>> dumped_collections(engine::Store& store,
                                                         engine::Snapshot& snapshot,
                                                         const std::string& database,
                                                         const std::string& collection);

}  // namespace gridmount::tools
