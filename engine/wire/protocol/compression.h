// OP_COMPRESSED: another message, compressed. Source: the specification of the MongoDB drivers,
// "Wire Compression".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/error.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/message_bytes.h"

namespace gridmount::wire {

enum class Compressor : uint8_t { kNoop = 0, kSnappy = 1, kZlib = 2, kZstd = 3 };

// The name hello's `compression` has for it ("zlib"), or none.
std::optional<Compressor> compressor_named(std::string_view name);
std::string_view compressor_name(Compressor compressor);

// Whether a command's messages may be compressed: not those of the first exchange and of log-in,
// which drivers leave as they are.
bool may_be_compressed(std::string_view command);

// What an OP_COMPRESSED message says of what is in it, checked: its opcode is not OP_COMPRESSED
// again, the compressor exists, and the size it claims makes no message beyond kMessageBytesMax.
struct CompressedHeader {
  Opcode opcode;
  uint32_t body_bytes;  // without the header of the message inside
  Compressor compressor;
  // Memory that the whole message will take.
  size_t message_bytes() const { return kHeaderBytes + body_bytes; }
};
// `message` is a whole message of Opcode::kCompressed. Errors: the connection is to be closed.
Result<CompressedHeader> read_compressed_header(std::span<const uint8_t> message);

// The message inside, with the header it would have had. Takes no more memory than claimed, and
// refuses bytes that give less or more. Errors as above.
Result<MessageBytes> decompress(std::span<const uint8_t> message);

// `message` as an OP_COMPRESSED; nothing if that would not be shorter.
std::optional<MessageBytes> compress(std::span<const uint8_t> message, Compressor compressor);

}  // namespace gridmount::wire
