// The table of all connections of a server. It counts connections, ends stalled connections, and
// detects clients that have disconnected.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "engine/base/thread_safety.h"

namespace gridmount::wire {

class Connection;

class ConnectionTable {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  void add(std::shared_ptr<Connection> connection);
  // Removes the connection and closes its socket.
  void remove(Connection& connection);

  size_t size() const;
  // Returns how many connections were ever added.
  int64_t created() const;

  // Ends each connection on which a handshake, a message or a reply makes no progress for the time
  // in ServerLimits. If a client has disconnected while it should wait for the reply to a command,
  // marks the client as gone, so that the command can stop. `now` must be the present time.
  void sweep(TimePoint now);

  // Must be called after the server has begun to stop. Ends each connection that is in a handshake,
  // idle, or receiving a message. The other connections end after their reply, because the server
  // stops.
  void end_idle();
  // Ends all connections. Marks the clients of running commands as gone.
  void end_all();
  // Waits until all connections have been removed. Returns false if the table is not empty at the
  // deadline.
  bool wait_until_empty(TimePoint deadline);

 private:
  mutable Mutex mutex_;
  Condition removed_;
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections_
      GM_GUARDED_BY(mutex_);
  int64_t created_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::wire
