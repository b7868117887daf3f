// Parses the write opcodes that OP_MSG has replaced: OP_INSERT, OP_UPDATE and OP_DELETE. Each
// becomes the equivalent command. There is no reply. Clients read the result with getLastError.
// Source: the MongoDB wire protocol's documentation, "Legacy Opcodes".
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/error.h"
#include "engine/wire/protocol/incoming.h"

namespace gridmount::wire {

// Each takes a whole message of its opcode. After an error the connection must be closed.
Result<Incoming> read_op_insert(std::span<const uint8_t> message);
Result<Incoming> read_op_update(std::span<const uint8_t> message);
Result<Incoming> read_op_delete(std::span<const uint8_t> message);

}  // namespace gridmount::wire
