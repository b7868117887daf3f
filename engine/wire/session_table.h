// The logical sessions that clients have told of. Source: drivers' specification of sessions,
// MongoDB manual, "startSession", "refreshSessions", "endSessions", "killSessions".
//
// A session is an id, whose it is, and the time it was last used; cursors and operations name
// theirs themselves. So that nobody fills the table for others, an owner has a share of it, and
// there is always room for one more: of an owner that has its share the session that has been idle
// longest gives way, of a full table that of all. It is not ended by that: it is known again with
// its next use.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/wire/generic_arguments.h"

namespace gridmount::wire {

class SessionTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // What one owner has at most.
  static constexpr size_t share_of(size_t sessions_max) {
    return sessions_max < 4 ? 1 : sessions_max / 4;
  }

  explicit SessionTable(size_t sessions_max) : sessions_max_(sessions_max) {}

  // An id that nobody knows.
  static SessionId generate();

  // Notes the use, for a new one its begin. A session belongs to who used it first.
  void touch(const SessionId& id, const std::string& owner, Time now) GM_EXCLUDES(mutex_);
  // False if there was none.
  bool end(const SessionId& id) GM_EXCLUDES(mutex_);
  // Whether it is known, and another's.
  bool is_of_another(const SessionId& id, const std::string& owner) const GM_EXCLUDES(mutex_);
  std::vector<SessionId> end_all() GM_EXCLUDES(mutex_);
  // Ends those last used at `before` or earlier, and returns them.
  std::vector<SessionId> expire(Time before) GM_EXCLUDES(mutex_);
  std::vector<SessionId> list() const GM_EXCLUDES(mutex_);
  size_t size() const GM_EXCLUDES(mutex_);

 private:
  struct Session {
    std::string owner;
    Time last_use;
  };
  using Sessions = std::map<SessionId, Session>;
  using ByUse = std::set<std::pair<Time, SessionId>>;  // the one idle longest first

  void make_room_for(const std::string& owner) GM_REQUIRES(mutex_);
  void remove(Sessions::iterator session) GM_REQUIRES(mutex_);

  const size_t sessions_max_;
  mutable Mutex mutex_;
  Sessions sessions_ GM_GUARDED_BY(mutex_);
  ByUse by_use_ GM_GUARDED_BY(mutex_);
  std::map<std::string, ByUse> by_owner_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::wire
