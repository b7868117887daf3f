// What getLastError tells of a connection's last write command.
//
// Used by the connection's thread.
#pragma once

#include "engine/wire/client.h"
#include "engine/wire/commands/write_batch.h"

namespace gridmount::wire {

void note_last_write(Client& client, const BatchResult& result, bool is_update);

}  // namespace gridmount::wire
