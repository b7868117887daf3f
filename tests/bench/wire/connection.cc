#include "tests/bench/wire/connection.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gridmount::bench {

Connection::Connection(const std::filesystem::path& socket)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket.string();
  if (path.size() < sizeof(address.sun_path)) {
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return;
  } else {
    errno = ENAMETOOLONG;
  }
  const int code = errno;
  ::close(fd_);
  throw std::runtime_error("cannot connect to " + path + ": " + std::strerror(code));
}

Connection::~Connection() {
  ::close(fd_);
}

std::span<const uint8_t> Connection::ask(std::span<const uint8_t> message) {
  write_all(fd_, message);
  reply_.resize(std::max(reply_.size(), kMessageHeaderBytes));
  bool is_open = read_exactly(fd_, reply_.data(), kMessageHeaderBytes);
  const uint32_t length = is_open ? message_length(reply_.data()) : 0;
  if (length >= kMessageHeaderBytes) {
    reply_.resize(std::max<size_t>(reply_.size(), length));
    is_open = read_exactly(fd_, reply_.data() + kMessageHeaderBytes, length - kMessageHeaderBytes);
  }
  if (!is_open || length < kMessageHeaderBytes) {
    throw std::runtime_error("the server has closed the connection");
  }
  return std::span(reply_).first(length);
}

bool read_exactly(int fd, uint8_t* bytes, size_t count) {
  while (count > 0) {
    const ssize_t got = ::read(fd, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

void write_all(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw std::runtime_error(std::string("cannot send: ") + std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
}

uint32_t message_length(const uint8_t* header) {
  uint32_t length = 0;
  std::memcpy(&length, header, sizeof(length));
  return length;
}

}  // namespace gridmount::bench
