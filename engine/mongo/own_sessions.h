// The sessions in which the transactions of one MongoStore run. The server names the session of
// each change that a transaction has made, so a change stream can leave out the changes of its own
// store.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

#include "engine/base/thread_safety.h"

namespace gridmount::mongo {

class OwnSessions {
 public:
  // `id` has the bytes of the session's UUID. libmongoc reuses sessions, so there are few sessions.
  void add(std::string_view id) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (ids_.size() >= kSessionsMax) ids_.clear();
    ids_.emplace(id);
  }
  bool contains(std::string_view id) const GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return ids_.contains(std::string(id));
  }

 private:
  // When there are more sessions, add() forgets all earlier sessions. A change stream then reports
  // the changes of these sessions as changes of others.
  static constexpr size_t kSessionsMax = 100'000;

  mutable Mutex mutex_;
  std::unordered_set<std::string> ids_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::mongo
