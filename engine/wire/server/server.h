// A server of the wire protocol: sockets, TLS, and the threads that carry requests from them to a
// handler and replies back.
//
// A few I/O threads serve all sockets; commands, which block, run on a bounded number of workers; a
// request that has nothing to do yet is parked and holds neither. What clients can make the server
// hold is limited by ServerLimits: connections, bytes of messages, time.
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
class Server final : public ServerFigures {
 public:
  // Listens, or says why not: an address without what it needs, a file that cannot be read, an
  // address in use. `handler` outlives the server. Not to be called before fork().
  static Result<std::unique_ptr<Server>> start(RequestHandler& handler, ServerOptions options);
  // stop(), if that has not been called; and waits for what stop() did not wait for.
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  static constexpr std::chrono::milliseconds kGrace{10'000};
  static constexpr std::chrono::milliseconds kGraceOfStuck{5'000};
  // Stops accepting, tells the handler, ends what is idle and lets what runs finish and be
  // answered. What has not by then loses its connection, and a moment more to notice that its
  // client has gone. Returns within both times; false if a command still runs then. Its thread uses
  // the handler and the store, so that the process has to end without destroying either; the
  // destructor waits for it, however long that takes.
  bool stop(std::chrono::milliseconds grace = kGrace,
            std::chrono::milliseconds grace_of_stuck = kGraceOfStuck);

  // Where it listens: "127.0.0.1:27017", with the port that was chosen where it was given as 0.
  // The socket's file comes first, if there is one.
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
