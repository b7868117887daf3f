// A server of the wire protocol. It has the sockets, TLS, and the threads that pass requests to a
// handler and send its replies.
//
// A few I/O threads serve all sockets. Commands may block, so they run on a limited number of
// workers. A request that has to wait for a change is deferred, and then uses no thread.
// ServerLimits has the limits of connections, bytes of messages, and time for clients.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/wire/server/request_handler.h"
#include "engine/wire/server/server_options.h"
#include "engine/wire/service.h"

namespace gridmount::wire {

class Server final : public ServerStats {
 public:
  // Starts to listen. Fails with InvalidOptions if an address is not allowed with these options or
  // the options of TLS contradict each other, with BadValue for an address that cannot be parsed or
  // resolved, with IoError if it cannot listen on an address, with InternalError if Asio or a
  // thread cannot start, and with the errors of TlsContext::load() and SocketFile::listen().
  // Exception: if the file system does not support sockets, logs a warning and has no socket file.
  // `handler` must outlive the server. start() starts threads, so a process that becomes a daemon
  // must call it after fork().
  static Result<std::unique_ptr<Server>> start(RequestHandler& handler, ServerOptions options);
  // Calls stop() if it was not called before, and then waits for commands that are still running.
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  static constexpr std::chrono::milliseconds kGrace{10'000};
  static constexpr std::chrono::milliseconds kGraceOfStuck{5'000};
  // Accepts no more connections, shuts the handler down, ends idle connections, and waits until
  // running commands have ended and their replies are sent. After `grace` closes the remaining
  // connections. Their commands then have `grace_of_stuck` to notice that their client is gone.
  // Returns after both times at the latest. Returns false if a command is still running. Then the
  // process must end without destroying the handler or the store, because the command's thread uses
  // them. The destructor would wait for the command without a time limit.
  bool stop(std::chrono::milliseconds grace = kGrace,
            std::chrono::milliseconds grace_of_stuck = kGraceOfStuck);

  // Returns the addresses on which the server listens, such as "127.0.0.1:27017". Instead of a port
  // 0 they have the chosen port. If there is a socket file, it is the first.
  std::vector<std::string> addresses() const;

  int64_t connections() const override;
  int64_t connections_available() const override;
  int64_t connections_created() const override;
  uint64_t bytes_in() const override;
  uint64_t bytes_out() const override;
  uint64_t requests() const override;
  uint16_t port() const override;

 private:
  class Running;
  explicit Server(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace gridmount::wire
