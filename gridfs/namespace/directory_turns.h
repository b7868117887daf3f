// Turns of the threads that change the names of one directory, for a store whose transactions run
// at the same time: each change of a name writes its directory's document, so two at once would
// conflict, and one of them would begin anew.
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "engine/base/thread_safety.h"

namespace gridmount::gridfs {

class DirectoryTurns {
 public:
  // Calls `change` while no other thread changes the names of one of these directories, which may
  // be the same. Must not be called from `change`.
  template <typename Change>
  auto in_turn(std::string_view one, std::string_view other,
               const Change& change) GM_NO_THREAD_SAFETY_ANALYSIS->decltype(change()) {
    const size_t first = std::min(index_of(one), index_of(other));
    const size_t last = std::max(index_of(one), index_of(other));
    const MutexLock lock(turns_[first]);
    if (first == last) return change();
    const MutexLock other_lock(turns_[last]);
    return change();
  }
  template <typename Change>
  auto in_turn(std::string_view directory, const Change& change) -> decltype(change()) {
    return in_turn(directory, directory, change);
  }

 private:
  // Directories share them.
  static constexpr size_t kTurns = 64;
  static size_t index_of(std::string_view directory) {
    return std::hash<std::string_view>()(directory) % kTurns;
  }

  std::array<Mutex, kTurns> turns_;
};

}  // namespace gridmount::gridfs
