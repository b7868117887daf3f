#include "engine/wire/protocol/compression.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "engine/wire/protocol/byte_reader.h"

namespace gridmount::wire {
namespace {

// The message header, the inner opcode, the size of the decompressed body, and the compressor.
constexpr size_t kCompressedHeaderBytes = kHeaderBytes + 4 + 4 + 1;

// Fast levels: most connections are within one machine or a local network, where higher levels cost
// more time than they save.
constexpr int kZlibLevel = Z_BEST_SPEED;
constexpr int kZstdLevel = 1;

constexpr std::array<std::string_view, 4> kNames = {"noop", "snappy", "zlib", "zstd"};

const char* chars(const uint8_t* bytes) {
  return reinterpret_cast<const char*>(bytes);
}
char* chars(uint8_t* bytes) {
  return reinterpret_cast<char*>(bytes);
}

// Fills all of `out`, which has the claimed size. Returns false if the data does not give exactly
// as many bytes.
bool decompress_into(std::span<const uint8_t> in, Compressor compressor, std::span<uint8_t> out) {
  switch (compressor) {
    case Compressor::kNoop:
      if (in.size() != out.size()) return false;
      if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
      return true;
    case Compressor::kSnappy: {
      size_t size = 0;
      return snappy::GetUncompressedLength(chars(in.data()), in.size(), &size) &&
             size == out.size() &&
             snappy::RawUncompress(chars(in.data()), in.size(), chars(out.data()));
    }
    case Compressor::kZlib: {
      uLongf size = out.size();
      return ::uncompress(out.data(), &size, in.data(), in.size()) == Z_OK && size == out.size();
    }
    case Compressor::kZstd: {
      const size_t size = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
      return ZSTD_isError(size) == 0 && size == out.size();
    }
  }
  return false;
}

size_t compressed_bytes_max(size_t size, Compressor compressor) {
  switch (compressor) {
    case Compressor::kNoop:
      return size;
    case Compressor::kSnappy:
      return snappy::MaxCompressedLength(size);
    case Compressor::kZlib:
      return ::compressBound(size);
    case Compressor::kZstd:
      return ZSTD_compressBound(size);
  }
  return size;
}

// Returns the number of bytes written to `out`, which has room for compressed_bytes_max(). Returns
// 0 on failure.
size_t compress_into(std::span<const uint8_t> in, Compressor compressor, std::span<uint8_t> out) {
  switch (compressor) {
    case Compressor::kNoop:
      std::memcpy(out.data(), in.data(), in.size());
      return in.size();
    case Compressor::kSnappy: {
      size_t size = out.size();
      snappy::RawCompress(chars(in.data()), in.size(), chars(out.data()), &size);
      return size;
    }
    case Compressor::kZlib: {
      uLongf size = out.size();
      return ::compress2(out.data(), &size, in.data(), in.size(), kZlibLevel) == Z_OK ? size : 0;
    }
    case Compressor::kZstd: {
      const size_t size = ZSTD_compress(out.data(), out.size(), in.data(), in.size(), kZstdLevel);
      return ZSTD_isError(size) == 0 ? size : 0;
    }
  }
  return 0;
}

}  // namespace

std::optional<Compressor> compressor_named(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Compressor>(found - kNames.begin());
}

std::string_view compressor_name(Compressor compressor) {
  return kNames[static_cast<size_t>(compressor)];
}

bool may_be_compressed(std::string_view command) {
  static constexpr std::array<std::string_view, 11> kNever = {
      "hello",        "isMaster",   "ismaster",   "saslStart",       "saslContinue", "getnonce",
      "authenticate", "createUser", "updateUser", "copydbSaslStart", "copydb"};
  return std::find(kNever.begin(), kNever.end(), command) == kNever.end();
}

Result<CompressedHeader> read_compressed_header(std::span<const uint8_t> message) {
  if (message.size() < kCompressedHeaderBytes) {
    return fail(ErrorCode::kBadValue, "Invalid compressed message header");
  }
  const auto opcode = static_cast<Opcode>(load_32(message.data() + kHeaderBytes));
  const auto claimed = static_cast<int32_t>(load_32(message.data() + kHeaderBytes + 4));
  const uint8_t compressor = message[kHeaderBytes + 8];
  if (opcode == Opcode::kCompressed) {
    return fail(ErrorCode::kBadValue, "A compressed message holds a compressed message");
  }
  if (compressor >= kNames.size()) {
    return fail(ErrorCode::kInternalError,
                "Compression algorithm specified in message is not available");
  }
  if (claimed < 0) {
    return fail(ErrorCode::kBadValue, "Decompressed message would be negative in size");
  }
  const auto body_bytes = static_cast<uint32_t>(claimed);
  if (body_bytes > kMessageBytesMax - kHeaderBytes) {
    return fail(ErrorCode::kBadValue,
                "Decompressed message would be larger than maximum message size");
  }
  return CompressedHeader{opcode, body_bytes, static_cast<Compressor>(compressor)};
}

Result<MessageBytes> decompress(std::span<const uint8_t> message) {
  GM_ASSIGN(const CompressedHeader header, read_compressed_header(message));
  MessageBytes bytes;
  if (!bytes.reserve(header.message_bytes())) {
    return fail(ErrorCode::kInternalError, "no memory for the decompressed message");
  }
  bytes.set_size(header.message_bytes());
  const auto request_id = static_cast<int32_t>(load_32(message.data() + 4));
  const auto response_to = static_cast<int32_t>(load_32(message.data() + 8));
  write_header({static_cast<uint32_t>(bytes.size()), request_id, response_to, header.opcode},
               bytes.data());
  if (!decompress_into(message.subspan(kCompressedHeaderBytes), header.compressor,
                       {bytes.data() + kHeaderBytes, header.body_bytes})) {
    return fail(ErrorCode::kBadValue,
                "A message compressed with " + std::string(compressor_name(header.compressor)) +
                    " does not decompress to the " + std::to_string(header.body_bytes) +
                    " bytes that its header claims");
  }
  return bytes;
}

std::optional<MessageBytes> compress(std::span<const uint8_t> message, Compressor compressor) {
  const std::span<const uint8_t> body = message.subspan(kHeaderBytes);
  const size_t room = compressed_bytes_max(body.size(), compressor);
  MessageBytes bytes;
  if (!bytes.reserve(kCompressedHeaderBytes + room)) return std::nullopt;
  const size_t size =
      compress_into(body, compressor, {bytes.data() + kCompressedHeaderBytes, room});
  const size_t whole = kCompressedHeaderBytes + size;
  if (size == 0) return std::nullopt;
  if (compressor != Compressor::kNoop && whole >= message.size()) return std::nullopt;
  bytes.set_size(whole);
  // The header keeps the ids of the message. Only its length and opcode change.
  std::memcpy(bytes.data(), message.data(), kHeaderBytes);
  store_32(static_cast<uint32_t>(whole), bytes.data());
  store_32(static_cast<uint32_t>(Opcode::kCompressed), bytes.data() + 12);
  std::memcpy(bytes.data() + kHeaderBytes, message.data() + 12, sizeof(uint32_t));
  store_32(static_cast<uint32_t>(body.size()), bytes.data() + kHeaderBytes + 4);
  bytes.data()[kHeaderBytes + 8] = static_cast<uint8_t>(compressor);
  return bytes;
}

}  // namespace gridmount::wire
