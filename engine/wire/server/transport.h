// The byte stream of one connection: a socket, or TLS over a socket. The transport owns the socket.
//
// Not thread-safe. Only one operation may run at a time. The buffers of an operation must be valid
// until the operation's completion handler is called. A completion handler runs on one of the
// server's I/O threads, never within the call that has started the operation. But the handler may
// run on another thread before that call returns. During an operation, a thread may call only
// interrupt(), and must ensure that the transport still exists.
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

  // Performs the handshake, which must be the first operation. Calls `done` with zero bytes.
  virtual void shake_hands(Done done) = 0;
  // Reads at least one byte, or fails. At the end of the stream the error is asio::error::eof.
  virtual void read_some(std::span<uint8_t> into, Done done) = 0;
  // Writes at least one byte of `pieces`, or fails. At least one piece must not be empty.
  virtual void write_some(const Pieces& pieces, Done done) = 0;
  // A thread must call this before it waits for the peer itself (with poll() on fd()). No operation
  // may be running. Until the next read_some() or write_some(), bytes that arrive do not wake an
  // I/O thread. Does nothing if the transport supports neither read_now() nor write_now().
  virtual void release_from_io() {}
  // Reads the bytes that have arrived, without waiting. Returns the number of bytes read. Returns
  // zero if nothing has arrived, after an error, and at the end of the stream: the next read_some()
  // then reports the error or the end. Also returns zero if the transport does not support this
  // function.
  virtual size_t read_now(std::span<uint8_t> into) = 0;
  // Sends as many bytes as the kernel accepts without waiting, in this thread. Returns the number
  // of bytes sent. Returns zero after an error, which the next write_some() then reports. Also
  // returns zero if the transport does not support this function.
  virtual size_t write_now(const Pieces& pieces) = 0;

  // Returns the subject of the client's verified certificate, in the format of RFC 2253. Returns an
  // empty text if the client has sent no certificate. Must be called after the handshake.
  virtual std::string certificate_subject() = 0;
  virtual bool is_tls() const = 0;

  // Returns the socket, which stays open as long as this object exists.
  int fd() const { return fd_; }
  // Shuts down both directions of the stream. A running operation then ends soon.
  void interrupt() const;

 protected:
  explicit Transport(int fd) : fd_(fd) {}

 private:
  const int fd_;
};

// Makes a transport without TLS, which owns the socket. Throws std::system_error if the local
// address of the socket cannot be read.
std::unique_ptr<Transport> make_plain_transport(Socket socket);

// Returns `pieces` without their first `count` bytes.
Pieces behind(const Pieces& pieces, size_t count);

}  // namespace gridmount::wire
