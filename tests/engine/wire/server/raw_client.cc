#include "tests/engine/wire/server/raw_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>

#include "engine/wire/protocol/byte_reader.h"
#include "engine/wire/server/socket_file.h"

namespace gridmount::wire {
namespace {

constexpr int kPatienceSeconds = 120;

bool read_all(int fd, uint8_t* into, size_t count) {
  while (count > 0) {
    const ssize_t got = ::recv(fd, into, count, 0);
    if (got <= 0) return false;
    into += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

RawClient::RawClient(FileDescriptor fd) : fd_(std::move(fd)) {
  const timeval patience{kPatienceSeconds, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

RawClient RawClient::to_socket_file(const std::filesystem::path& folder) {
  Result<FileDescriptor> fd = connect_to_socket_file(folder);
  return RawClient(fd ? std::move(*fd) : FileDescriptor());
}

RawClient RawClient::to_address(const std::string& address) {
  const size_t colon = address.rfind(':');
  const auto port = static_cast<uint16_t>(std::stoi(address.substr(colon + 1)));
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  const bool is_v6 = address[0] == '[';
  if (!is_v6) ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &v4.sin_addr);
  FileDescriptor fd(::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* const target =
      is_v6 ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
  if (::connect(fd.get(), target, is_v6 ? sizeof v6 : sizeof v4) != 0) fd.reset();
  return RawClient(std::move(fd));
}

bool RawClient::send(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  return true;
}

size_t RawClient::send_now(std::span<const uint8_t> bytes) {
  const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent > 0 ? static_cast<size_t>(sent) : 0;
}

std::optional<ReadReply> RawClient::receive() {
  Bytes bytes(4);
  if (!read_all(fd_.get(), bytes.data(), 4)) return std::nullopt;
  const uint32_t length = load_32(bytes.data());
  if (length < 4) return std::nullopt;
  bytes.resize(length);
  if (!read_all(fd_.get(), bytes.data() + 4, length - 4)) return std::nullopt;
  return read_reply(bytes);
}

std::optional<ReadReply> RawClient::ask(bson::View command) {
  if (!send(op_msg(command))) return std::nullopt;
  return receive();
}

std::string RawClient::read_to_end() {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

bool RawClient::is_closed_within(int milliseconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  char buffer[65536];
  while (Clock::now() < deadline) {
    pollfd watched{fd_.get(), POLLIN, 0};
    if (::poll(&watched, 1, 20) <= 0) continue;
    const ssize_t got = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
  }
  return false;
}

bool RawClient::is_silent_for(int milliseconds) {
  pollfd watched{fd_.get(), POLLIN, 0};
  return ::poll(&watched, 1, milliseconds) == 0;
}

void RawClient::end_sending() {
  ::shutdown(fd_.get(), SHUT_WR);
}

void RawClient::set_receive_buffer(int bytes) {
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

}  // namespace gridmount::wire
