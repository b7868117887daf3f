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

// Finds a compressor by its name in the field `compression` of hello, such as "zlib". Returns
// nothing for an unknown name.
std::optional<Compressor> compressor_named(std::string_view name);
std::string_view compressor_name(Compressor compressor);

// Returns true if the messages of the command may be compressed. The specification forbids this for
// the handshake, for log-ins, and for createUser, updateUser and copydb.
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
// `message` must be a whole message with Opcode::kCompressed. Fails with InternalError for an
// unknown compressor, and with BadValue if the header is invalid for another reason. After an error
// the connection must be closed.
Result<CompressedHeader> read_compressed_header(std::span<const uint8_t> message);

// Returns the inner message, with the header of an uncompressed message. Allocates no more than the
// claimed size. Fails as read_compressed_header() does, with BadValue if the decompressed data does
// not have exactly the claimed size, and with InternalError if memory is short. After an error the
// connection must be closed.
Result<MessageBytes> decompress(std::span<const uint8_t> message);

// Returns `message` as an OP_COMPRESSED message. Returns nothing if memory is short, if the
// compression fails, or if the result would not be shorter than `message`. Exception: with kNoop,
// returns the result although it is longer.
std::optional<MessageBytes> compress(std::span<const uint8_t> message, Compressor compressor);

}  // namespace gridmount::wire
