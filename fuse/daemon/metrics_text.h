// Shows the mount's state as metrics for Prometheus.
//
// A function without state, so thread-safe. It reads the clock.
#pragma once

#include <string>

#include "fuse/daemon/mount_state.h"

namespace gridmount::fuse {

// Returns the metrics in the text format of Prometheus, version 0.0.4. SEMANTICS.md lists their
// names.
std::string metrics_text(const MountState& state);

}  // namespace gridmount::fuse
