// Writes the mount's state to the log, for users who wonder what the mount is doing. Thread-safe.
#pragma once

#include "fuse/kernel/session.h"
#include "fuse/tree/buckets.h"

namespace gridmount::fuse {

// Logs at level info: each operation in progress with its age, a line for each kind of operation,
// the open files, and the store: its sizes and the age of its last checkpoint. May wait for the
// store's disk, after all other lines are written.
void log_state(Session& session, Buckets& buckets);

}  // namespace gridmount::fuse
