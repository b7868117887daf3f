// Takes the connections that come in on one listening socket.
//
// Runs on the server's I/O threads; start() and stop() from any thread. When the process is out of
// descriptors or memory it waits a little instead of trying again at once.
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
  // Gets each connection: a socket that does not block and is not inherited.
  using Accept = std::function<void(FileDescriptor socket)>;

  // `socket` listens and does not block; a copy of it is used.
  Acceptor(asio::io_context& io, int socket, std::string name, Accept accept);

  void start();
  // No connection is handed on once this has returned, from whatever thread. What the kernel has
  // taken and nobody has accepted is reset when the listening socket is closed.
  void stop();

 private:
  void wait() GM_REQUIRES(mutex_);
  void accept_some();
  void rest() GM_REQUIRES(mutex_);

  const std::string name_;
  const Accept accept_;
  // Held while connections are handed on, so that stop() waits for that.
  Mutex mutex_;
  asio::posix::stream_descriptor listening_ GM_GUARDED_BY(mutex_);
  asio::steady_timer timer_ GM_GUARDED_BY(mutex_);
  bool is_stopped_ GM_GUARDED_BY(mutex_) = false;
};

}  // namespace gridmount::wire
