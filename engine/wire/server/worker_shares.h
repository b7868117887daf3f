// Divides the workers among clients, so that neither one client nor all clients over TCP can occupy
// all workers.
//
// A request that may take long needs a turn while it runs. One eighth of the workers, but at least
// one, never runs requests that need a turn. This eighth is reserved for commands that take little
// time and need no turn. One quarter of the workers, but at least two, never runs requests of
// clients over TCP that need a turn. This quarter includes the reserved eighth. A TCP account,
// which is a user or an address, can have at most half of the workers. But one worker is always
// permitted, even if there are very few workers. A request that would exceed a limit waits and does
// not occupy a worker. The waiting accounts get one turn each, in rotation. The requests of one
// account get their turns in the order in which they have arrived.
//
// Thread-safe, except that a Turn must be used by one thread at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/thread_safety.h"

namespace gridmount::wire {

class WorkerShares {
 public:
  enum class Kind { kSocket, kTcp };

  class Turn {
   public:
    bool is_held() const { return is_held_; }

   private:
    friend class WorkerShares;
    bool is_held_ = false;
    Kind kind_ = Kind::kSocket;
    std::string account_;
  };

  explicit WorkerShares(size_t workers);

  // Returns true if the caller gets the turn immediately. Otherwise puts `turn` into a queue. Later
  // a thread that calls release() or stop() gives the turn, and calls `granted`. Until then `turn`
  // must be neither used nor destroyed. All clients of the Unix socket are one account, whatever
  // `account` is.
  bool acquire(Turn& turn, Kind kind, std::string account, std::function<void()> granted)
      GM_EXCLUDES(mutex_);
  // Releases the turn. Does nothing if the turn is not held. Must be called before a held turn is
  // destroyed.
  void release(Turn& turn) GM_EXCLUDES(mutex_);

  // Gives all waiting turns, and makes all later calls of acquire() return true.
  void stop() GM_EXCLUDES(mutex_);

 private:
  struct Waiter {
    Turn* turn;
    std::function<void()> granted;
  };
  struct Account {
    Kind kind = Kind::kSocket;
    size_t running = 0;
    std::deque<Waiter> waiting;
  };
  using Granted = std::vector<std::function<void()>>;

  bool fits(const Account& account) const GM_REQUIRES(mutex_);
  void take(Turn& turn, Account& account) GM_REQUIRES(mutex_);
  // Gives turns to waiting requests. The caller must call the returned functions without the lock.
  Granted grant() GM_REQUIRES(mutex_);

  const size_t most_of_all_;
  const size_t most_of_tcp_;
  const size_t most_of_account_;
  Mutex mutex_;
  bool is_stopped_ GM_GUARDED_BY(mutex_) = false;
  size_t running_ GM_GUARDED_BY(mutex_) = 0;
  size_t running_of_tcp_ GM_GUARDED_BY(mutex_) = 0;
  // Accounts with running or waiting requests.
  std::unordered_map<std::string, Account> accounts_ GM_GUARDED_BY(mutex_);
  std::deque<std::string> rotation_ GM_GUARDED_BY(mutex_);  // accounts with waiting requests
};

}  // namespace gridmount::wire
