// The byte stream of one connection: a socket, or TLS over a socket.
//
// Not thread-safe. Only one operation may run at a time. Completion handlers run on the server's
// I/O threads and never before the call that started the operation has returned. Only interrupt()
// may be called during an operation, by a thread that keeps the transport from being destroyed.
#pragma once

#include <array>
#include <asio/generic/stream_protocol.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>

namespace gridmount::wire {

using Socket = asio::generic::stream_protocol::socket;
using Pieces = std::array<std::span<const uint8_t>, 3>;

class Transport {
 public:
  using Done = std::function<void(std::error_code error, size_t bytes)>;

  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Performs the handshake, which must precede the first byte. Calls `done` with zero bytes.
  virtual void shake_hands(Done done) = 0;
  // Reads at least one byte or fails. The end of the stream is the error asio::error::eof.
  virtual void read_some(std::span<uint8_t> into, Done done) = 0;
  virtual void write_some(const Pieces& pieces, Done done) = 0;
  // Must be called before a thread waits for the peer by itself, while no operation is running.
  // Until the next read_some() or write_some(), arriving bytes wake no I/O thread.
  virtual void release_from_io() {}
  // Returns what has arrived, without waiting. Returns zero if nothing has arrived or the transport
  // does not support this. The next read_some() reports errors and the end of the stream.
  virtual size_t read_now(std::span<uint8_t> into) = 0;
  // Sends, in this thread, as much as the kernel takes without waiting. Returns zero if it takes
  // nothing or the transport does not support this. The next write_some() reports errors.
  virtual size_t write_now(const Pieces& pieces) = 0;

  // Returns the subject of the verified certificate that the client has shown, in the format that
  // RFC 2253 defines. Empty if there is none. Valid after shake_hands().
  virtual std::string certificate_subject() = 0;
  virtual bool is_tls() const = 0;

  int fd() const { return fd_; }
  // Shuts down both directions of the stream. A running operation ends soon.
  void interrupt() const;

 protected:
  explicit Transport(int fd) : fd_(fd) {}

 private:
  const int fd_;
};

std::unique_ptr<Transport> make_plain_transport(Socket socket);

// Returns what remains of `pieces` after the first `count` bytes.
Pieces behind(const Pieces& pieces, size_t count);

}  // namespace gridmount::wire
