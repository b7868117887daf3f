// Answers MongoDB commands on a store. It is everything of a server except its sockets.
//
// Thread-safe. Requests of different clients run at the same time, requests of one client one after
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
  std::string version = "7.0.0";  // reported by buildInfo; drivers go by maxWireVersion
  // If true, clients over TCP must log in. Clients of the Unix socket never need to: whoever can
  // open it owns the store's folder.
  bool authentication = false;
  std::chrono::milliseconds cursor_idle_max{600'000};
  std::chrono::minutes session_idle_max{30};
  size_t cursors_max = 10'000;
  size_t sessions_max = 100'000;
  // Memory limit of a sort without an index, and of a pipeline stage that collects documents.
  uint64_t operation_bytes_max = kOperationBytesMax;
  // Memory limit of the filters of all commands together. Small filters are not counted.
  uint64_t filter_bytes_max = uint64_t{400} << 20;
  std::vector<std::string> arguments = {};  // the program's arguments, for getCmdLineOpts
  // Compressors that hello may choose from a client's `compression`.
  std::vector<std::string> compressors = {"snappy", "zstd", "zlib"};
};

// What serverStatus reports about the server around the service. Thread-safe.
class ServerStats {
 public:
  virtual ~ServerStats() = default;
  virtual int64_t connections() const = 0;
  virtual int64_t connections_available() const = 0;
  virtual int64_t connections_created() const = 0;
  virtual uint64_t bytes_in() const = 0;
  virtual uint64_t bytes_out() const = 0;
  virtual uint64_t requests() const = 0;
  // The TCP port, or 0 if the server does not listen on TCP.
  virtual uint16_t port() const = 0;
};

class Service {
 public:
  // `store` must outlive the service.
  Service(engine::Store& store, ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Returns the reply. The reply of a failed command is {ok: 0, errmsg, code, codeName, ...}. Never
  // throws. Blocks while the command runs. A write also waits for its turn.
  Outcome handle(Client& client, const Request& request);

  // Returns a number that differs from an earlier result if a write may have been committed in
  // between, by this service or elsewhere in the process. It is then worth handling deferred
  // requests again. Costs one load.
  uint64_t changes() const;
  // Sets a function that is called after each commit of this service, by the thread that committed.
  // Must be set before the first request.
  void on_change(std::function<void()> notify);
  // Makes changes() return another number and calls the notification. For writes that did not go
  // through this service.
  void record_change();

  // Must be called when the connection has closed. Ends its log-in and kills the operations that
  // still run for it. The client may be destroyed afterwards.
  void forget(Client& client);

  // Returns the account that the client's requests count against where a limit is shared: its user
  // once it has logged in, otherwise the address that it comes from.
  std::string account(const Client& client) const;

  // Drops idle cursors and sessions. Must be called every few seconds.
  void expire(std::chrono::steady_clock::time_point now);

  // Interrupts all running operations, which then fail with InterruptedAtShutdown (11600). Refuses
  // later requests with the same error.
  void shut_down();

  void set_stats(const ServerStats* stats);

  class State;  // defined in engine/wire/service_state.h for the commands

 private:
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::wire
