// The state of a mount: stats of its operations, its open files and the store. The functions are
// thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/disk_cache/disk_cache.h"
#include "engine/store.h"
#include "fuse/kernel/session.h"
#include "fuse/tree/buckets.h"

namespace gridmount::fuse {

struct MountState {
  std::vector<OperationSummary> operations;
  std::vector<OperationInProgress> in_progress;  // oldest first
  FileUsage files;
  std::optional<engine::StoreStats> store;  // unset if the store could not report it
  std::optional<DiskCache::Usage> disk_cache;
};

// Returns the present state. May wait for the store's disk, but never for an operation of the
// mount.
MountState mount_state(Session& session, Buckets& buckets);

}  // namespace gridmount::fuse
