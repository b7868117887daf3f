// A client's end of a socket file. It sends and receives whole messages of the wire protocol, and
// does nothing else that would cost time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace gridmount::bench {

using Bytes = std::vector<uint8_t>;

class Connection {
 public:
  // Throws std::runtime_error if nobody listens, or if the path is too long for a socket.
  explicit Connection(const std::filesystem::path& socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Returns the reply, which is valid until the next call. Throws std::runtime_error if the peer is
  // gone.
  std::span<const uint8_t> ask(std::span<const uint8_t> message);

 private:
  int fd_;
  Bytes reply_;
};

// Reads exactly `count` bytes from the descriptor. Returns false if the stream ends before or
// cannot be read.
bool read_exactly(int fd, uint8_t* bytes, size_t count);
// Throws std::runtime_error if the socket does not take all bytes.
void write_all(int fd, std::span<const uint8_t> bytes);

// Returns the length of a message from its header.
uint32_t message_length(const uint8_t* header);
inline constexpr size_t kMessageHeaderBytes = 16;

}  // namespace gridmount::bench
