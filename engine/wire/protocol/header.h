// The sixteen bytes every message begins with. Source: the MongoDB wire protocol's documentation,
// "Standard Message Header"; numbers are little-endian.
#pragma once

#include <cstdint>
#include <span>

#include "engine/base/error.h"
#include "engine/base/limits.h"

namespace gridmount::wire {

enum class Opcode : int32_t {
  kReply = 1,
  kUpdate = 2001,
  kInsert = 2002,
  kReserved = 2003,
  kQuery = 2004,
  kGetMore = 2005,
  kDelete = 2006,
  kKillCursors = 2007,
  kCompressed = 2012,
  kMessage = 2013,
};

inline constexpr size_t kHeaderBytes = 16;

struct Header {
  uint32_t length = 0;  // of the whole message
  int32_t request_id = 0;
  int32_t response_to = 0;
  Opcode opcode = Opcode::kMessage;  // may be a number that has no name here
};

// Checks the length alone. After an error nothing that follows can be told apart: the connection is
// to be closed.
Result<Header> read_header(std::span<const uint8_t, kHeaderBytes> bytes);
void write_header(const Header& header, uint8_t* to);

// "OP_MSG", or the number of an opcode that has no name.
std::string opcode_name(Opcode opcode);

}  // namespace gridmount::wire
