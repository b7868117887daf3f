// Keeps the result of a connection's last write command, which getLastError reports.
//
// Not thread-safe: called by the thread that handles the connection's request.
#pragma once

#include "engine/wire/client.h"
#include "engine/wire/commands/write_batch.h"

namespace gridmount::wire {

void record_last_write(Client& client, const BatchResult& result, bool is_update);

}  // namespace gridmount::wire
