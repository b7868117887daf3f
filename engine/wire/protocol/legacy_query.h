// Parses messages of old clients with the opcodes OP_QUERY, OP_GET_MORE and OP_KILL_CURSORS, which
// OP_MSG has replaced. OP_QUERY can also contain a command, such as the oldest form of hello. Each
// message is converted to the equivalent command. Source: the MongoDB wire protocol's
// documentation, "Legacy Opcodes", and MongoDB 5.0, the last server that accepted all of them.
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/error.h"
#include "engine/wire/protocol/incoming_message.h"

namespace gridmount::wire {

// Flags of OP_REPLY.
inline constexpr uint32_t kCursorNotFound = 1u << 0;
inline constexpr uint32_t kQueryFailure = 1u << 1;
inline constexpr uint32_t kAwaitCapable = 1u << 3;

// Flags of OP_QUERY. The flags slaveOk and partial have no effect here.
inline constexpr uint32_t kTailableCursor = 1u << 1;
inline constexpr uint32_t kNoCursorTimeout = 1u << 4;
inline constexpr uint32_t kAwaitData = 1u << 5;
inline constexpr uint32_t kExhaust = 1u << 6;  // refused; clients can use OP_MSG's exhaustAllowed
                                               // instead

// Each function takes a whole message with the opcode in the function's name. The result refers to
// `message`, which must outlive it. The functions set only `kind` and `legacy_flags` of
// IncomingMessage::form, and the caller must set its other fields. After an error the connection
// must be closed. If an error can be reported to the client, IncomingMessage::content has it and
// the function succeeds.
Result<IncomingMessage> read_op_query(std::span<const uint8_t> message);
Result<IncomingMessage> read_op_get_more(std::span<const uint8_t> message);
Result<IncomingMessage> read_op_kill_cursors(std::span<const uint8_t> message);

}  // namespace gridmount::wire
