// OP_MSG: a command as a body, plus document sequences beside it.
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

// Flag bits. A reader must refuse a message if one of the low sixteen bits is set and the reader
// does not know that bit. It may ignore unknown high bits.
inline constexpr uint32_t kChecksumPresent = 1u << 0;
inline constexpr uint32_t kMoreToCome = 1u << 1;
inline constexpr uint32_t kExhaustAllowed = 1u << 16;

struct OpMsg {
  uint32_t flags = 0;
  // An Error is sent to the client as a reply, and the connection stays open.
  std::variant<Request, Error> content;
};

// `message` is a whole message with Opcode::kMessage. After an error of the result the connection
// must be closed without a reply: unknown required flags, a wrong checksum, more than two
// sequences, or missing flags.
Result<OpMsg> read_op_msg(std::span<const uint8_t> message);

}  // namespace gridmount::wire
