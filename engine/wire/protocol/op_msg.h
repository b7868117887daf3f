// Parses OP_MSG, which has a command as its body, and may have document sequences too.
// Source: the MongoDB wire protocol's documentation, "OP_MSG"; errors as in MongoDB 7.0.
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "engine/base/error.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

// Flag bits. If a message has an unknown bit among the low sixteen, the reader must refuse the
// message. The reader may ignore unknown bits among the high sixteen.
inline constexpr uint32_t kChecksumPresent = 1u << 0;
inline constexpr uint32_t kMoreToCome = 1u << 1;
inline constexpr uint32_t kExhaustAllowed = 1u << 16;

struct OpMsg {
  uint32_t flags = 0;
  // If this is an Error, the server must send it to the client as a reply and keep the connection
  // open.
  std::variant<Request, Error> content;
};

// `message` must be a whole message with Opcode::kMessage. Fails for missing flags, for unknown
// flags among the low sixteen, for a missing or wrong checksum, and for more than two sequences.
// The connection must then be closed without a reply.
Result<OpMsg> read_op_msg(std::span<const uint8_t> message);

}  // namespace gridmount::wire
