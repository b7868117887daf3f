// What `.gridfs/stats.json` holds: the mount's operations, the bucket, the store.
#pragma once

#include <string>

#include "fuse/daemon/mount_state.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::fuse {

// One JSON document and a newline; SEMANTICS.md lists its fields. What cannot be had is left out.
std::string bucket_statistics(const MountState& state, gridfs::Volume& volume);

}  // namespace gridmount::fuse
