// What of a store goes into a dump: the collections that mongodump takes, with what stands in their
// metadata.
//
// Thread-safety: functions without state.
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

// Of `database`, or of all but local if it is empty; of `collection` alone if that is not empty.
// Left out are, unless one is asked for by its name, system collections (not admin's, and not
// system.js) and what servers keep in config for themselves. In the order of names.
// NamespaceNotFound if what is asked for does not exist.
Result<std::vector<DumpedCollection>> dumped_collections(engine::Store& store,
                                                         engine::Snapshot& snapshot,
                                                         const std::string& database,
                                                         const std::string& collection);

}  // namespace gridmount::tools
