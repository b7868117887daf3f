// OP_QUERY, of which MongoDB 7.0 takes the first messages of a connection alone: hello under its
// names, and what old drivers ask before they know the server. Source: the MongoDB wire protocol's
// documentation of the opcodes that were removed; the refusals are MongoDB 7.0's.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "engine/bson/document.h"
#include "engine/error.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

// Flags of OP_REPLY.
inline constexpr uint32_t kQueryFailure = 1u << 1;
inline constexpr uint32_t kAwaitCapable = 1u << 3;

struct OpQuery {
  uint32_t reply_flags = kAwaitCapable;
  // A Document is the reply: an error.
  std::variant<Request, bson::Document> content;
};

// `message` is a whole message of Opcode::kQuery. An error of the result is one after which the
// connection is to be closed.
Result<OpQuery> read_op_query(std::span<const uint8_t> message);

// What is said to OP_QUERY on a collection ("OP_QUERY") and to OP_GET_MORE.
bson::Document no_longer_supported(std::string_view opcode_name);

}  // namespace gridmount::wire
