// What a mount tells about itself: how its operations went, what its files hold, and how the store
// is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/store.h"
#include "fuse/kernel/session.h"
#include "fuse/tree/buckets.h"

namespace gridmount::fuse {

struct MountState {
  std::vector<OperationSummary> operations;
  std::vector<OperationInProgress> in_progress;  // the oldest first
  FileUsage files;
  std::optional<engine::StoreStats> store;  // none if the store could not tell
};

// May wait for the disk that the store is on, but for no operation.
MountState mount_state(Session& session, Buckets& buckets);

// In the text format of Prometheus, version 0.0.4. SEMANTICS.md lists the names.
std::string metrics_text(const MountState& state);

}  // namespace gridmount::fuse
