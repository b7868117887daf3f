// A server of the wire protocol: the sockets, TLS, and the threads that carry requests to a handler
// and replies back.
//
// A few I/O threads serve all sockets. Commands may block, so they run on a limited number of
// workers. A request that has to wait for a change is deferred and uses neither. ServerLimits
// limits what clients can occupy: connections, bytes of messages, and time.
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

// Thread-safe.
class Server final : public ServerStats {
 public:
  // Starts to listen. Fails if an address is not allowed with these options, a file cannot be read,
  // or an address is in use. `handler` must outlive the server. Must not be called before fork().
  static Result<std::unique_ptr<Server>> start(RequestHandler& handler, ServerOptions options);
  // Calls stop() if it has not been called, and waits for commands that stop() did not wait for.
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  static constexpr std::chrono::milliseconds kGrace{10'000};
  static constexpr std::chrono::milliseconds kGraceOfStuck{5'000};
  // Stops accepting, shuts the handler down, ends idle connections, and lets running commands
  // finish and be answered. After `grace` the remaining connections are closed, and their commands
  // have `grace_of_stuck` to notice that their client is gone. Returns after both times at the
  // latest. Returns false if a command is still running. Its thread uses the handler and the store,
  // so the process must end without destroying either. The destructor waits for the command,
  // however long it takes.
  bool stop(std::chrono::milliseconds grace = kGrace,
            std::chrono::milliseconds grace_of_stuck = kGraceOfStuck);

  // Returns the addresses on which it listens, such as "127.0.0.1:27017". A port given as 0 is
  // replaced by the chosen one. The socket file comes first, if there is one.
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
