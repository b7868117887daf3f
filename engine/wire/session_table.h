// The table of the logical sessions that clients have used. Source: drivers' specification of
// sessions, MongoDB manual, "startSession", "refreshSessions", "endSessions", "killSessions".
//
// A session consists of an id, its owner, and the time of its last use. Cursors and operations have
// copies of their session's id and user. Each account can have only a share of the table, so that
// no account can fill the table. A new session always finds room: if its account's share is full,
// the session of this account that has been idle longest is removed; if the whole table is full,
// the session of any account that has been idle longest is removed. The removal does not end the
// session: its next use adds it to the table again.
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

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/wire/generic_arguments.h"
#include "engine/wire/session_pattern.h"

namespace gridmount::wire {

class SessionTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Returns how many sessions one account may have.
  static constexpr size_t share_of(size_t sessions_max) {
    return sessions_max < 4 ? 1 : sessions_max / 4;
  }

  explicit SessionTable(size_t sessions_max) : sessions_max_(sessions_max) {}

  // Returns a new random id.
  static Result<SessionId> generate();

  // Records a use of the session, and adds the session if it is not in the table. A session belongs
  // to the account that has used it first.
  void touch(const SessionId& id, const SessionOwner& owner, Time now) GM_EXCLUDES(mutex_);
  // Records a use of the session if it is in the table.
  void refresh(const SessionId& id, const UserDigest& user, Time now) GM_EXCLUDES(mutex_);
  // Removes the sessions that match the pattern.
  void end(const SessionPattern& pattern) GM_EXCLUDES(mutex_);
  // Returns true if this session of `owner.user` is in the table and belongs to an account other
  // than `owner.account`.
  bool is_of_another(const SessionId& id, const SessionOwner& owner) const GM_EXCLUDES(mutex_);
  // Removes the sessions that were last used at `before` or earlier, and returns a pattern for each
  // of them.
  std::vector<SessionPattern> expire(Time before) GM_EXCLUDES(mutex_);
  std::vector<SessionId> list() const GM_EXCLUDES(mutex_);
  size_t size() const GM_EXCLUDES(mutex_);

 private:
  // Two users may use the same id.
  using Key = std::pair<SessionId, UserDigest>;
  struct Session {
    std::string account;
    Time last_use;
  };
  using Sessions = std::map<Key, Session>;
  using ByUse = std::set<std::pair<Time, Key>>;  // the session that has been idle longest is the
                                                 // first

  void make_room_for(const std::string& account) GM_REQUIRES(mutex_);
  void set_last_use(Sessions::iterator session, Time now) GM_REQUIRES(mutex_);
  // Removes a session, and returns the next one.
  Sessions::iterator remove(Sessions::iterator session) GM_REQUIRES(mutex_);

  const size_t sessions_max_;
  mutable Mutex mutex_;
  Sessions sessions_ GM_GUARDED_BY(mutex_);
  ByUse by_use_ GM_GUARDED_BY(mutex_);
  std::map<std::string, ByUse> by_account_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::wire
