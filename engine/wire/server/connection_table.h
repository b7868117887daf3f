// All connections of a server: how many there may be, who among them has stopped doing anything,
// and whose client has gone.
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
  // Closes its socket, which nobody looks at any more afterwards.
  void remove(Connection& connection);

  size_t size() const;
  int64_t created() const;

  // Ends those that have been silent for too long within something, and tells those that run a
  // command whose client has gone.
  void sweep(TimePoint now);

  // Ends those that run nothing; the others end with their reply.
  void end_idle();
  // Ends all, with their clients marked as gone.
  void end_all();
  // False if it is not empty by then.
  bool wait_until_empty(TimePoint deadline);

 private:
  mutable Mutex mutex_;
  Condition removed_;
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections_
      GM_GUARDED_BY(mutex_);
  int64_t created_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::wire
