#include "engine/wire/server/transport.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <utility>

namespace gridmount::wire {
namespace {

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(Socket socket)
      : Transport(socket.native_handle()), socket_(std::move(socket)) {}

  void shake_hands(Done done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}, 0); });
  }

  void read_some(std::span<uint8_t> into, Done done) override {
    socket_.async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
  }

  void write_some(const Pieces& pieces, Done done) override {
    std::array<asio::const_buffer, 3> buffers;
    std::transform(pieces.begin(), pieces.end(), buffers.begin(),
                   [](auto piece) { return asio::buffer(piece.data(), piece.size()); });
    socket_.async_write_some(buffers, std::move(done));
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
