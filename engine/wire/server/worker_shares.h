// Shares the workers among clients, so that no kind of client can occupy all of them.
//
// A request that may take long needs a turn while it runs. One eighth of the workers has no turns
// and remains for commands that are answered at once. One quarter of the workers is never given to
// clients over TCP. One account of TCP, which is a user or an address, has at most half of the
// workers. A request beyond these limits waits without a worker. Waiting accounts get one turn each
// in rotation. The requests of one account get their turns in order of arrival.
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

  // Returns true if `turn` is held now. Otherwise `turn` is queued, and `granted` is called once it
  // is held, by the thread that releases another turn. Until then `turn` must not be used. All
  // clients of the socket are one account, whatever `account` is.
  bool acquire(Turn& turn, Kind kind, std::string account, std::function<void()> granted)
      GM_EXCLUDES(mutex_);
  // Does nothing if the turn is not held.
  void release(Turn& turn) GM_EXCLUDES(mutex_);

  // Grants everything that waits, and everything from now on.
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
  // Gives turns to waiting requests. The caller calls the returned functions without the lock.
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
