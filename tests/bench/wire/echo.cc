#include "tests/bench/wire/echo.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/bench/wire/connection.h"

namespace gridmount::bench {
namespace {

void serve(int fd, uint32_t reply_bytes) {
  Bytes reply(std::max<size_t>(reply_bytes, kMessageHeaderBytes));
  const auto length = static_cast<uint32_t>(reply.size());
  std::memcpy(reply.data(), &length, sizeof(length));
  Bytes message(kMessageHeaderBytes);
  try {
    while (read_exactly(fd, message.data(), kMessageHeaderBytes)) {
      const size_t rest = message_length(message.data()) - kMessageHeaderBytes;
      if (message.size() < rest) message.resize(rest);
      if (!read_exactly(fd, message.data(), rest)) break;
      write_all(fd, reply);
    }
  } catch (const std::runtime_error&) {
    // The client is gone.
  }
  ::close(fd);
}

}  // namespace

void run_echo(const std::filesystem::path& socket, uint32_t reply_bytes) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket.string();
  if (path.size() >= sizeof(address.sun_path)) throw std::runtime_error(path + " is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  constexpr int kBacklog = 64;
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener, kBacklog) != 0) {
    throw std::runtime_error("cannot listen on " + path + ": " + std::strerror(errno));
  }
  for (;;) {
    const int fd = ::accept(listener, nullptr, nullptr);
    if (fd < 0) throw std::runtime_error(std::string("cannot accept: ") + std::strerror(errno));
    std::thread(serve, fd, reply_bytes).detach();
  }
}

}  // namespace gridmount::bench
