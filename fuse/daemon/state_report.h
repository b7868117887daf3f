// Writes the mount's state to the log, for users who wonder what the mount is doing. Thread-safe.
#pragma once

#include "fuse/kernel/session.h"
#include "fuse/tree/buckets.h"

namespace gridmount::fuse {

// Logs at level info: each operation in progress with its age, the statistics of each kind of
// operation, the number of open files and of bytes that are not yet committed, and the sizes of the
// store with the age of its last checkpoint. May wait for the store's disk before the line about
// the store.
void log_state(Session& session, Buckets& buckets);

}  // namespace gridmount::fuse
