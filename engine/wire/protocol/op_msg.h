// OP_MSG: a command as a body and sequences of documents beside it. Source: the MongoDB wire
// protocol's documentation, "OP_MSG"; the refusals are MongoDB 7.0's.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "engine/base/error.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

// Flag bits. The low sixteen must be known to whoever reads them, the high ones may be passed over.
inline constexpr uint32_t kChecksumPresent = 1u << 0;
inline constexpr uint32_t kMoreToCome = 1u << 1;
inline constexpr uint32_t kExhaustAllowed = 1u << 16;

struct OpMsg {
  uint32_t flags = 0;
  // An Error is for the client, who gets it as a reply; its connection goes on.
  std::variant<Request, Error> content;
};

// `message` is a whole message of Opcode::kMessage. An error of the result is one after which the
// connection is to be closed without a reply: unknown required flags, a wrong checksum, more than
// two sequences, not even flags.
Result<OpMsg> read_op_msg(std::span<const uint8_t> message);

}  // namespace gridmount::wire
