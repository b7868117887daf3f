#include "engine/wire/server/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "engine/base/log.h"

namespace gridmount::wire {
namespace {

// Limits the connections accepted in one go, so that a flood of them does not starve other sockets.
constexpr int kAcceptedAtOnce = 64;
constexpr std::chrono::milliseconds kRest{100};

// Returns true for errors that concern only the connection being accepted, not the listening
// socket.
bool is_of_one_connection(int error_number) {
  switch (error_number) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
    case EPERM:
      return true;
    default:
      return false;
  }
}

}  // namespace

Acceptor::Acceptor(asio::io_context& io, int socket, std::string name, Accept accept)
    : name_(std::move(name)),
      accept_(std::move(accept)),
      listening_(io, ::fcntl(socket, F_DUPFD_CLOEXEC, 0)),
      timer_(io) {}

void Acceptor::start() {
  const MutexLock lock(mutex_);
  wait();
}

void Acceptor::stop() {
  const MutexLock lock(mutex_);
  is_stopped_ = true;
  std::error_code ignored;
  listening_.close(ignored);
  timer_.cancel();
}

void Acceptor::wait() {
  listening_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [self = shared_from_this()](const std::error_code& error) {
                          if (!error) self->accept_some();
                        });
}

void Acceptor::accept_some() {
  const MutexLock lock(mutex_);
  if (is_stopped_) return;
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    FileDescriptor socket(
        ::accept4(listening_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.is_open()) {
      try {
        accept_(std::move(socket));
      } catch (const std::exception& error) {
        // In practice an allocation has failed.
        log::warn("{}: a connection cannot be served: {}", name_, error.what());
        return rest();
      }
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (!is_of_one_connection(errno)) {
      log::warn("{}: no connection can be accepted: {}", name_,
                std::generic_category().message(errno));
      return rest();
    }
  }
  wait();
}

void Acceptor::rest() {
  timer_.expires_after(kRest);
  timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (error) return;
    const MutexLock lock(self->mutex_);
    if (!self->is_stopped_) self->wait();
  });
}

}  // namespace gridmount::wire
