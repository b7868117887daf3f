// Takes the connections that come in on one listening socket.
//
// Runs on the server's I/O threads, one handler at a time. When the process is out of descriptors
// or memory it waits a little instead of trying again at once.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <functional>
#include <memory>
#include <string>

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
  void wait();
  void accept_some();
  void rest();

  asio::strand<asio::io_context::executor_type> strand_;
  asio::posix::stream_descriptor listening_;
  asio::steady_timer timer_;
  const std::string name_;
  const Accept accept_;
  bool is_stopped_ = false;  // of the strand
};

}  // namespace gridmount::wire
