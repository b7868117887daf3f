// Parses the opcodes for writes that OP_MSG has replaced: OP_INSERT, OP_UPDATE and OP_DELETE. Each
// message is converted to the equivalent command. The server sends no reply, and clients read the
// result with getLastError.
// Source: the MongoDB wire protocol's documentation, "Legacy Opcodes".
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/error.h"
#include "engine/wire/protocol/incoming_message.h"

namespace gridmount::wire {

// Each function takes a whole message with its header and the opcode in the function's name. The
// result refers to `message`, which must outlive it. Fails with the errors of ByteReader, and with
// InvalidLength for more than kMessageWritesMax documents. After an error the connection must be
// closed.
Result<IncomingMessage> read_op_insert(std::span<const uint8_t> message);
Result<IncomingMessage> read_op_update(std::span<const uint8_t> message);
Result<IncomingMessage> read_op_delete(std::span<const uint8_t> message);

}  // namespace gridmount::wire
