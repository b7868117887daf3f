// The bytes of one connection, whatever carries them: a socket, or TLS over one.
//
// One operation at a time; handlers are called on the server's I/O threads, never before the call
// that started the operation has returned. Only interrupt() may be called beside an operation, by a
// thread that keeps the transport from being destroyed.
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

  // What must happen before the first byte; `done` is called with zero bytes.
  virtual void shake_hands(Done done) = 0;
  // Reads at least one byte, or fails; the end of the stream is asio::error::eof.
  virtual void read_some(std::span<uint8_t> into, Done done) = 0;
  virtual void write_some(const Pieces& pieces, Done done) = 0;
  // Before a thread waits for the peer by itself: no I/O thread is woken by what arrives, until the
  // next read_some() or write_some(). With no operation running.
  virtual void take_from_io() {}
  // What has arrived, without waiting. Zero if that is nothing, or if this transport cannot; the
  // end of the stream and errors show with the next read_some().
  virtual size_t read_now(std::span<uint8_t> into) = 0;
  // Sends what the kernel takes at once, by this thread. Zero if that is nothing, or if this
  // transport cannot; errors show with the next write_some().
  virtual size_t write_now(const Pieces& pieces) = 0;

  // Of a certificate that the client has shown and that was verified, as RFC 2253 writes it; else
  // empty. After shake_hands().
  virtual std::string certificate_subject() = 0;
  virtual bool is_tls() const = 0;

  int fd() const { return fd_; }
  // Ends the stream in both directions: a running operation ends soon.
  void interrupt() const;

 protected:
  explicit Transport(int fd) : fd_(fd) {}

 private:
  const int fd_;
};

std::unique_ptr<Transport> make_plain_transport(Socket socket);

// What remains of `pieces` when `count` bytes of them are gone.
Pieces behind(const Pieces& pieces, size_t count);

}  // namespace gridmount::wire
