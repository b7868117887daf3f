// The state of a mount, for metrics and reports: statistics of its operations, the operations in
// progress, and how much its open files, the store and the disk cache use.
//
// Thread-safety: mount_state() is thread-safe. A MountState is a plain value.
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
  std::optional<engine::StoreStats> store;     // unset if the store could not report it
  std::optional<DiskCache::Usage> disk_cache;  // unset if there is no disk cache
};

// Returns the present state. May wait for the store's disk, but never for an operation of the
// mount.
MountState mount_state(Session& session, Buckets& buckets);

}  // namespace gridmount::fuse
