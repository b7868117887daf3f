#include "engine/wire/protocol/header.h"

#include <cstring>
#include <string>

#include "engine/wire/protocol/byte_reader.h"

namespace gridmount::wire {

Result<Header> read_header(std::span<const uint8_t, kHeaderBytes> bytes) {
  const auto number_at = [&](size_t at) {
    return static_cast<int32_t>(load_32(bytes.data() + at));
  };
  const int32_t length = number_at(0);
  if (length < static_cast<int32_t>(kHeaderBytes) ||
      length > static_cast<int32_t>(kMessageBytesMax)) {
    return fail(ErrorCode::kInvalidLength, "recv(): message msgLen " + std::to_string(length) +
                                               " is invalid. Min " + std::to_string(kHeaderBytes) +
                                               " Max: " + std::to_string(kMessageBytesMax));
  }
  return Header{static_cast<uint32_t>(length), number_at(4), number_at(8),
                static_cast<Opcode>(number_at(12))};
}

void write_header(const Header& header, uint8_t* to) {
  store_32(header.length, to);
  store_32(static_cast<uint32_t>(header.request_id), to + 4);
  store_32(static_cast<uint32_t>(header.response_to), to + 8);
  store_32(static_cast<uint32_t>(header.opcode), to + 12);
}

std::string opcode_name(Opcode opcode) {
  switch (opcode) {
    case Opcode::kReply:
      return "OP_REPLY";
    case Opcode::kUpdate:
      return "OP_UPDATE";
    case Opcode::kInsert:
      return "OP_INSERT";
    case Opcode::kReserved:
      break;
    case Opcode::kQuery:
      return "OP_QUERY";
    case Opcode::kGetMore:
      return "OP_GET_MORE";
    case Opcode::kDelete:
      return "OP_DELETE";
    case Opcode::kKillCursors:
      return "OP_KILL_CURSORS";
    case Opcode::kCompressed:
      return "OP_COMPRESSED";
    case Opcode::kMessage:
      return "OP_MSG";
  }
  return "opcode " + std::to_string(static_cast<int32_t>(opcode));
}

}  // namespace gridmount::wire
