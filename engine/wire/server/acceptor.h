// Accepts the connections that arrive at one listening socket.
//
// Thread-safe. An Acceptor runs on the server's I/O threads. If no connection can be accepted, for
// example because the process has no file descriptors or memory left, the acceptor writes a warning
// that begins with `name`, waits 100 ms and tries again. It does the same after an exception of
// `accept`.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "engine/base/thread_safety.h"
#include "engine/wire/server/file_descriptor.h"

namespace gridmount::wire {

class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  // Receives each connection as a non-blocking socket with close-on-exec.
  using Accept = std::function<void(FileDescriptor socket)>;

  // `socket` must be a non-blocking listening socket. The acceptor uses a duplicate of it.
  Acceptor(asio::io_context& io, int socket, std::string name, Accept accept);

  void start();
  // Waits for a running call of `accept`. After stop() has returned, `accept` is not called any
  // more. Connections that nobody has accepted stay in the kernel's queue until the caller closes
  // `socket`, and then the kernel resets them. So the caller should close `socket` after stop().
  void stop();

 private:
  void wait() GM_REQUIRES(mutex_);
  void accept_some();
  void rest() GM_REQUIRES(mutex_);

  const std::string name_;
  const Accept accept_;
  // Held during calls of `accept`, so that stop() waits for them.
  Mutex mutex_;
  asio::posix::stream_descriptor listening_ GM_GUARDED_BY(mutex_);
  asio::steady_timer timer_ GM_GUARDED_BY(mutex_);
  bool is_stopped_ GM_GUARDED_BY(mutex_) = false;
};

}  // namespace gridmount::wire
