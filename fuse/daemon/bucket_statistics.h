// Builds the content of `.gridfs/stats.json`: the stats of the mount's operations, the bucket and
// the store.
//
// Thread-safe.
#pragma once

#include <string>

#include "fuse/daemon/mount_state.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::fuse {

// Returns one JSON document and a newline. SEMANTICS.md lists its fields. A field whose value
// cannot be read is left out.
std::string bucket_statistics(const MountState& state, gridfs::PathNamespace& paths);

}  // namespace gridmount::fuse
