// Lets the threads that change names of one directory take turns, over a store whose transactions
// run at the same time. Each change of a name writes the document of the name's directory. So two
// simultaneous changes would conflict, and one of them would have to be repeated.
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/base/thread_safety.h"

namespace gridmount::gridfs {

class DirectoryTurns {
 public:
  // A thread that has waited for a turn for `patience` continues without the turn, because the
  // thread that has the turn may be waiting for a server that does not answer.
  explicit DirectoryTurns(std::chrono::milliseconds patience) : patience_(patience) {}

  // Waits for the turns of both directories, at most `patience` for each, calls `change`, and
  // returns the result of `change`. `one` and `other` may be the same directory. `change` must not
  // call in_turn().
  template <typename Change>
  auto in_turn(std::string_view one, std::string_view other, const Change& change)
      -> decltype(change()) {
    const size_t first = std::min(index_of(one), index_of(other));
    const size_t last = std::max(index_of(one), index_of(other));
    const Turn turn(*this, first);
    std::optional<Turn> other_turn;
    if (first != last) other_turn.emplace(*this, last);
    return change();
  }

 private:
  using Clock = std::chrono::steady_clock;
  // The number of turns. Several directories share one turn.
  static constexpr size_t kTurns = 64;

  class Turn {
   public:
    Turn(DirectoryTurns& turns, size_t index)
        : turns_(turns), index_(index), is_taken_(turns.take(index)) {}
    ~Turn() {
      if (is_taken_) turns_.end(index_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    DirectoryTurns& turns_;
    const size_t index_;
    const bool is_taken_;
  };

  static size_t index_of(std::string_view directory) {
    return std::hash<std::string_view>()(directory) % kTurns;
  }
  bool take(size_t index) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const Clock::time_point end = Clock::now() + patience_;
    while (taken_[index]) {
      const Clock::time_point now = Clock::now();
      if (now >= end) return false;
      (void)ended_.wait_for(mutex_, end - now);
    }
    taken_[index] = true;
    return true;
  }
  void end(size_t index) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    taken_[index] = false;
    ended_.notify_all();
  }

  const std::chrono::milliseconds patience_;
  Mutex mutex_;
  Condition ended_;
  std::array<bool, kTurns> taken_ GM_GUARDED_BY(mutex_){};
};

}  // namespace gridmount::gridfs
