#include "engine/wire/server/transport.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <utility>

namespace gridmount::wire {
namespace {

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(Socket socket)
      : Transport(socket.native_handle()),
        protocol_(socket.local_endpoint().protocol()),
        socket_(std::move(socket)) {}
  ~PlainTransport() override {
    if (!socket_.is_open()) ::close(fd());
  }

  void shake_hands(Done done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}, 0); });
  }

  void read_some(std::span<uint8_t> into, Done done) override {
    if (const auto error = assign_to_io()) return fail_later(error, std::move(done));
    socket_.async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
  }

  void write_some(const Pieces& pieces, Done done) override {
    if (const auto error = assign_to_io()) return fail_later(error, std::move(done));
    std::array<asio::const_buffer, 3> buffers;
    std::transform(pieces.begin(), pieces.end(), buffers.begin(),
                   [](auto piece) { return asio::buffer(piece.data(), piece.size()); });
    socket_.async_write_some(buffers, std::move(done));
  }

  void release_from_io() override {
    std::error_code error;
    if (socket_.is_open()) (void)socket_.release(error);
  }

  size_t read_now(std::span<uint8_t> into) override {
    const ssize_t received = ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT);
    return received > 0 ? static_cast<size_t>(received) : 0;
  }

  size_t write_now(const Pieces& pieces) override {
    std::array<iovec, 3> vectors{};
    std::transform(pieces.begin(), pieces.end(), vectors.begin(), [](auto piece) {
      return iovec{const_cast<uint8_t*>(piece.data()), piece.size()};
    });
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = vectors.size();
    const ssize_t sent = ::sendmsg(fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent > 0 ? static_cast<size_t>(sent) : 0;
  }

  std::string certificate_subject() override { return {}; }
  bool is_tls() const override { return false; }

 private:
  std::error_code assign_to_io() {
    std::error_code error;
    if (!socket_.is_open()) socket_.assign(protocol_, fd(), error);
    return error;
  }

  void fail_later(std::error_code error, Done done) {
    asio::post(socket_.get_executor(), [error, done = std::move(done)] { done(error, 0); });
  }

  asio::generic::stream_protocol protocol_;
  Socket socket_;
};

}  // namespace

void Transport::interrupt() const {
  ::shutdown(fd_, SHUT_RDWR);
}

std::unique_ptr<Transport> make_plain_transport(Socket socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

Pieces behind(const Pieces& pieces, size_t count) {
  Pieces rest = pieces;
  for (auto& piece : rest) {
    const size_t gone = std::min(count, piece.size());
    piece = piece.subspan(gone);
    count -= gone;
  }
  return rest;
}

}  // namespace gridmount::wire
