// The logical sessions that clients have told of. Source: drivers' specification of sessions,
// MongoDB manual, "startSession", "refreshSessions", "endSessions", "killSessions".
//
// A session is an id and the time it was last used; cursors and operations name theirs themselves.
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/error.h"
#include "engine/thread_safety.h"
#include "engine/wire/generic_arguments.h"

namespace gridmount::wire {

class SessionTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit SessionTable(size_t sessions_max) : sessions_max_(sessions_max) {}

  // An id that nobody knows.
  static SessionId generate();

  // Notes the use, for a new one its begin. TooManyLogicalSessions (261).
  Status touch(const SessionId& id, Time now) GM_EXCLUDES(mutex_);
  // False if there was none.
  bool end(const SessionId& id) GM_EXCLUDES(mutex_);
  std::vector<SessionId> end_all() GM_EXCLUDES(mutex_);
  // Ends those last used at `before` or earlier, and returns them.
  std::vector<SessionId> expire(Time before) GM_EXCLUDES(mutex_);
  std::vector<SessionId> list() const GM_EXCLUDES(mutex_);
  size_t size() const GM_EXCLUDES(mutex_);

 private:
  const size_t sessions_max_;
  mutable Mutex mutex_;
  std::map<SessionId, Time> last_use_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::wire
