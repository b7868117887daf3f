// The sixteen bytes that begin every message. Numbers are little-endian.
// Source: the MongoDB wire protocol's documentation, "Standard Message Header".
//
// Thread-safe: functions without state.
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
  uint32_t length = 0;  // bytes of the whole message
  int32_t request_id = 0;
  int32_t response_to = 0;
  Opcode opcode = Opcode::kMessage;  // may be a number that Opcode does not name
};

// Reads a header, and checks only the length. Fails with InvalidLength unless the length is between
// kHeaderBytes and kMessageBytesMax. After an error the connection must be closed, because the
// beginnings of the following messages are unknown.
Result<Header> read_header(std::span<const uint8_t, kHeaderBytes> bytes);
void write_header(const Header& header, uint8_t* to);

// Returns the opcode's name, such as "OP_MSG". Returns "opcode N" for kReserved and for a number N
// that Opcode does not name.
std::string opcode_name(Opcode opcode);

}  // namespace gridmount::wire
