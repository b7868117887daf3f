// Answers MongoDB's commands on a store: everything of a server but its sockets.
//
// Thread-safe: different clients' requests are handled at the same time, one client's one after
// the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/limits.h"
#include "engine/store.h"
#include "engine/wire/client.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

struct ServiceOptions {
  std::string version = "7.0.0";  // what buildInfo says; drivers go by maxWireVersion
  // Clients of TCP must log in. Those of the store's own socket are who owns the store's folder.
  bool authentication = false;
  std::chrono::milliseconds cursor_idle_max{600'000};
  std::chrono::minutes session_idle_max{30};
  size_t cursors_max = 10'000;
  size_t sessions_max = 100'000;
  // Of a sort without an index, and of a stage that gathers documents.
  uint64_t operation_bytes_max = kOperationBytesMax;
  // Of the filters of all commands together, beside what small ones take.
  uint64_t filter_bytes_max = uint64_t{400} << 20;
  std::vector<std::string> arguments = {};  // of the program, for getCmdLineOpts
  // What hello offers of a client's `compression`.
  std::vector<std::string> compressors = {"snappy", "zstd", "zlib"};
};

// What the server around a service tells of itself, for serverStatus. Thread-safe.
class ServerFigures {
 public:
  virtual ~ServerFigures() = default;
  virtual int64_t connections() const = 0;
  virtual int64_t connections_available() const = 0;
  virtual int64_t connections_created() const = 0;
  virtual uint64_t bytes_in() const = 0;
  virtual uint64_t bytes_out() const = 0;
  virtual uint64_t requests() const = 0;
  // Of TCP; 0 if it does not listen there.
  virtual uint16_t port() const = 0;
};

class Service {
 public:
  // `store` outlives the service.
  Service(engine::Store& store, ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // The reply, which for a failed command is {ok: 0, errmsg, code, codeName, ...}. Never throws.
  // Blocks while the command runs, which for writes includes waiting for their turn.
  Outcome handle(Client& client, const Request& request);

  // Some write has been committed, here or elsewhere in the process, since the number was last
  // another one: postponed requests are worth handling again. Costs one load.
  uint64_t changes() const;
  // Called after each commit of this service, by the thread that made it. Set before the first
  // request.
  void on_change(std::function<void()> notify);
  // Also changes() and the notification, for writes that did not come through this service.
  void note_change();

  // The connection is closed: ends its cursors that nobody can read any more, its log-in and
  // locks. The client may be destroyed afterwards.
  void forget(Client& client);

  // Whom the client's requests count for where a limit is shared out: its user once it has logged
  // in, else the address it comes from.
  std::string account(const Client& client) const;

  // Drops idle cursors and sessions. To be called every few seconds.
  void expire(std::chrono::steady_clock::time_point now);

  // Everything that runs is told to end with InterruptedAtShutdown (11600); later requests too.
  void shut_down();

  void set_figures(const ServerFigures* figures);

  class State;  // engine/wire/service_state.h, what commands see

 private:
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::wire
