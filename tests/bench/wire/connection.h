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
  // Throws std::runtime_error if nobody listens.
  explicit Connection(const std::filesystem::path& socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The reply, which is good until the next call. Throws std::runtime_error if the peer has gone.
  std::span<const uint8_t> ask(std::span<const uint8_t> message);

 private:
  int fd_;
  Bytes reply_;
};

// Of the descriptor, the first `count` bytes or an exception; false at the end of the stream.
bool read_exactly(int fd, uint8_t* bytes, size_t count);
void write_all(int fd, std::span<const uint8_t> bytes);

// The length that a message begins with.
uint32_t message_length(const uint8_t* header);
inline constexpr size_t kMessageHeaderBytes = 16;

}  // namespace gridmount::bench
