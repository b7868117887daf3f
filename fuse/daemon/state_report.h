// The mount's state in the log, for whoever wonders what it is doing.
#pragma once

#include "fuse/kernel/session.h"
#include "fuse/tree/buckets.h"

namespace gridmount::fuse {

// At level info: each operation in progress with its age, a line for each kind of operation, open
// files, the store. May wait for the disk that the store is on, after all other lines.
void log_state(Session& session, Buckets& buckets);

}  // namespace gridmount::fuse
