// Reads by the opcodes that OP_MSG took the place of: OP_QUERY, which also carries commands
// (hello's first form among them), OP_GET_MORE and OP_KILL_CURSORS. Old clients use them; each
// becomes the command that does the same. Source: the MongoDB wire protocol's documentation,
// "Legacy Opcodes", and MongoDB 5.0, the last server that took all of them.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/error.h"
#include "engine/wire/protocol/incoming.h"

namespace gridmount::wire {

// Flags of OP_REPLY.
inline constexpr uint32_t kCursorNotFound = 1u << 0;
inline constexpr uint32_t kQueryFailure = 1u << 1;
inline constexpr uint32_t kAwaitCapable = 1u << 3;

// Flags of OP_QUERY. That a replica may answer, and that shards may be missing, changes nothing
// here.
inline constexpr uint32_t kTailableCursor = 1u << 1;
inline constexpr uint32_t kNoCursorTimeout = 1u << 4;
inline constexpr uint32_t kAwaitData = 1u << 5;
inline constexpr uint32_t kExhaust = 1u << 6;  // refused: OP_MSG's exhaustAllowed does the same

// Each takes a whole message of that opcode; `form` but for its kind and flags is the caller's. An
// error is one after which the connection is to be closed; what a client can be told of is content.
Result<Incoming> read_op_query(std::span<const uint8_t> message);
Result<Incoming> read_op_get_more(std::span<const uint8_t> message);
Result<Incoming> read_op_kill_cursors(std::span<const uint8_t> message);

}  // namespace gridmount::wire
