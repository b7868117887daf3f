// Reads and writes OP_COMPRESSED, a message that contains another message in compressed form.
// Source: the specification of the MongoDB drivers, "Wire Compression".
//
// Thread-safe: functions without state.
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

// Finds a compressor by its name in hello's `compression`, such as "zlib". Returns nothing for an
// unknown name.
std::optional<Compressor> compressor_named(std::string_view name);
std::string_view compressor_name(Compressor compressor);

// Returns true if the messages of the command may be compressed. Drivers do not compress those of
// the handshake and of log-ins.
bool may_be_compressed(std::string_view command);

// The header of an OP_COMPRESSED message. read_compressed_header() has checked that the inner
// opcode is not OP_COMPRESSED, that the compressor exists, and that a message of the claimed size
// is not larger than kMessageBytesMax.
struct CompressedHeader {
  Opcode opcode;
  uint32_t body_bytes;  // without the header of the inner message
  Compressor compressor;
  // Returns the size of the decompressed message.
  size_t message_bytes() const { return kHeaderBytes + body_bytes; }
};
// `message` is a whole message with Opcode::kCompressed. After an error the connection must be
// closed.
Result<CompressedHeader> read_compressed_header(std::span<const uint8_t> message);

// Returns the inner message, with the header of an uncompressed message. Allocates no more than the
// claimed size, and fails if the decompressed data has fewer or more bytes. After an error the
// connection must be closed.
Result<MessageBytes> decompress(std::span<const uint8_t> message);

// Returns `message` as an OP_COMPRESSED message, or nothing if that would not be shorter or memory
// is short. With kNoop the result is longer than `message`.
std::optional<MessageBytes> compress(std::span<const uint8_t> message, Compressor compressor);

}  // namespace gridmount::wire
