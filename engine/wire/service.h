// Executes MongoDB commands on a store. A Service does the work of a server, without the sockets.
//
// Thread-safe. Requests of different clients may run at the same time. Requests of one client must
// come one after another.
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
  std::string version = "7.0.0";  // reported by buildInfo; drivers use maxWireVersion instead
  // If true, clients over TCP must log in. Clients of the Unix socket need not log in, because only
  // the owner of the store's folder can open the socket.
  bool authentication = false;
  std::chrono::milliseconds cursor_idle_max{600'000};
  std::chrono::minutes session_idle_max{30};
  size_t cursors_max = 10'000;
  size_t sessions_max = 100'000;
  // The limit for the memory of a sort without an index, and of a pipeline stage that collects
  // documents.
  uint64_t operation_bytes_max = kOperationBytesMax;
  // The limit for the memory of the filters of all commands together. Small filters are not
  // counted.
  uint64_t filter_bytes_max = uint64_t{400} << 20;
  std::vector<std::string> arguments = {};  // the program's arguments, for getCmdLineOpts
  // The compressors of the server. hello chooses the ones among them that the client has too.
  std::vector<std::string> compressors = {"snappy", "zstd", "zlib"};
};

// The figures that serverStatus reports about the server that contains the service. Thread-safe.
class ServerStats {
 public:
  virtual ~ServerStats() = default;
  virtual int64_t connections() const = 0;
  virtual int64_t connections_available() const = 0;
  virtual int64_t connections_created() const = 0;
  virtual uint64_t bytes_in() const = 0;
  virtual uint64_t bytes_out() const = 0;
  virtual uint64_t requests() const = 0;
  // Returns the TCP port, or 0 if the server does not listen on TCP.
  virtual uint16_t port() const = 0;
};

class Service {
 public:
  // `store` must outlive the service.
  Service(engine::Store& store, ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Runs a command and returns its reply, or a Deferral. The reply of a failed command is {ok: 0,
  // errmsg, code, codeName, ...}. Never throws. Blocks while the command runs. A write also waits
  // for the write lock.
  Outcome handle(Client& client, const Request& request);

  // Returns a number that changes when a write may have been committed, by this service or
  // elsewhere in the process. If the number differs from an earlier result, deferred requests
  // should be handled again. The call only loads an atomic number.
  uint64_t changes() const;
  // Sets a function that is called after each change of changes(), by the thread that makes the
  // change. Must be called before the first request.
  void on_change(std::function<void()> notify);
  // Makes changes() return another number, and calls the function of on_change(). Must be called
  // after writes that were not made by this service.
  void record_change();

  // Must be called when the client's connection is closed. Ends the client's log-in, and kills the
  // operations that still run for the client. The client may be destroyed afterwards, when no
  // handle() for the client is running any more.
  void forget(Client& client);

  // Returns the account of the client, to which shared limits apply: its user if it has logged in,
  // otherwise its host (host_of()).
  std::string account(const Client& client) const;

  // Removes cursors and sessions that have been idle too long. Also ends the cursors and operations
  // of these sessions. Must be called every few seconds.
  void expire(std::chrono::steady_clock::time_point now);

  // Interrupts all running operations, which then fail with InterruptedAtShutdown (11600). Refuses
  // later requests with the same error.
  void shut_down();

  // `stats` must exist until set_stats() is called again. If `stats` is null, serverStatus reports
  // no figures of a server.
  void set_stats(const ServerStats* stats);

  class State;  // defined in engine/wire/service_state.h for the commands

 private:
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::wire
