#include "engine/wire/session_table.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "engine/wire/auth/digest.h"

namespace gridmount::wire {

Result<SessionId> SessionTable::generate() {
  GM_ASSIGN(const std::string bytes, random_uuid());
  SessionId id{};
  std::copy_n(bytes.begin(), id.size(), id.begin());
  return id;
}

void SessionTable::touch(const SessionId& id, const SessionOwner& owner, Time now) {
  const MutexLock lock(mutex_);
  const Key key(id, owner.user);
  auto found = sessions_.find(key);
  if (found == sessions_.end()) {
    make_room_for(owner.account);
    found = sessions_.emplace(key, Session{owner.account, now}).first;
  }
  set_last_use(found, now);
}

void SessionTable::refresh(const SessionId& id, const UserDigest& user, Time now) {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find({id, user});
  if (found != sessions_.end()) set_last_use(found, now);
}

void SessionTable::set_last_use(Sessions::iterator session, Time now) {
  const auto& [key, value] = *session;
  ByUse& of_account = by_account_[value.account];
  by_use_.erase({value.last_use, key});
  of_account.erase({value.last_use, key});
  session->second.last_use = now;
  by_use_.emplace(now, key);
  of_account.emplace(now, key);
}

void SessionTable::make_room_for(const std::string& account) {
  const auto its = by_account_.find(account);
  if (its != by_account_.end() && its->second.size() >= share_of(sessions_max_)) {
    remove(sessions_.find(its->second.begin()->second));
  }
  if (!by_use_.empty() && by_use_.size() >= sessions_max_) {
    remove(sessions_.find(by_use_.begin()->second));
  }
}

SessionTable::Sessions::iterator SessionTable::remove(Sessions::iterator session) {
  const std::pair key(session->second.last_use, session->first);
  by_use_.erase(key);
  const auto its = by_account_.find(session->second.account);
  its->second.erase(key);
  if (its->second.empty()) by_account_.erase(its);
  return sessions_.erase(session);
}

void SessionTable::end(const SessionPattern& pattern) {
  const MutexLock lock(mutex_);
  const auto is_beyond = [&](const Key& key) { return pattern.id && key.first != *pattern.id; };
  auto session =
      pattern.id ? sessions_.lower_bound({*pattern.id, UserDigest{}}) : sessions_.begin();
  while (session != sessions_.end() && !is_beyond(session->first)) {
    const auto& [id, user] = session->first;
    session = pattern.matches(id, user) ? remove(session) : std::next(session);
  }
}

bool SessionTable::is_of_another(const SessionId& id, const SessionOwner& owner) const {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find({id, owner.user});
  return found != sessions_.end() && found->second.account != owner.account;
}

std::vector<SessionPattern> SessionTable::expire(Time before) {
  const MutexLock lock(mutex_);
  std::vector<SessionPattern> ended;
  while (!by_use_.empty() && by_use_.begin()->first <= before) {
    const Key key = by_use_.begin()->second;
    ended.push_back({.id = key.first, .user = key.second});
    remove(sessions_.find(key));
  }
  return ended;
}

std::vector<SessionId> SessionTable::list() const {
  const MutexLock lock(mutex_);
  std::vector<SessionId> ids;
  for (const auto& [key, session] : sessions_) ids.push_back(key.first);
  return ids;
}

size_t SessionTable::size() const {
  const MutexLock lock(mutex_);
  return sessions_.size();
}

}  // namespace gridmount::wire
