// Writes by the opcodes that OP_MSG took the place of: OP_INSERT, OP_UPDATE and OP_DELETE. Each
// becomes the command that does the same; nobody is told what came of it but by getLastError.
// Source: the MongoDB wire protocol's documentation, "Legacy Opcodes".
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/error.h"
#include "engine/wire/protocol/incoming.h"

namespace gridmount::wire {

// Each takes a whole message of that opcode. An error is one after which the connection is to be
// closed.
Result<Incoming> read_op_insert(std::span<const uint8_t> message);
Result<Incoming> read_op_update(std::span<const uint8_t> message);
Result<Incoming> read_op_delete(std::span<const uint8_t> message);

}  // namespace gridmount::wire
