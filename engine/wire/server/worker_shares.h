// Who may have how many of the workers at one time: so that no kind of client gets all of them.
//
// Requests that may take long have a turn while they run. Of the workers, an eighth is never theirs
// and so is there for commands that are answered at once; a quarter is never TCP's; and one account
// of TCP, which is a user or an address, has half of them at most. Who would take more waits
// without a worker. Accounts that wait get one turn each in rotation, an account's own requests in
// the order in which they came.
//
// Thread-safe, apart from a Turn, which is used by one thread at a time.
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

  // True if `turn` is held now. Else it waits, and `granted` is called once it is held, by a thread
  // that ends another's turn; it is to be left alone until then. Clients of the socket are one
  // account, whatever is given.
  bool acquire(Turn& turn, Kind kind, std::string account, std::function<void()> granted)
      GM_EXCLUDES(mutex_);
  // Nothing if it is not held.
  void release(Turn& turn) GM_EXCLUDES(mutex_);

  // Grants all that waits, and everything from now on.
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
  // Gives turns to those that wait, to be told of it without the lock.
  Granted grant() GM_REQUIRES(mutex_);

  const size_t most_of_all_;
  const size_t most_of_tcp_;
  const size_t most_of_account_;
  Mutex mutex_;
  bool is_stopped_ GM_GUARDED_BY(mutex_) = false;
  size_t running_ GM_GUARDED_BY(mutex_) = 0;
  size_t running_of_tcp_ GM_GUARDED_BY(mutex_) = 0;
  // Those with something that runs or waits.
  std::unordered_map<std::string, Account> accounts_ GM_GUARDED_BY(mutex_);
  std::deque<std::string> rotation_ GM_GUARDED_BY(mutex_);  // accounts that wait
};

}  // namespace gridmount::wire
