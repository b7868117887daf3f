#include "engine/wire/session_table.h"

#include <random>

namespace gridmount::wire {

SessionId SessionTable::generate() {
  static thread_local std::mt19937_64 random{std::random_device()()};
  SessionId id{};
  for (uint8_t& byte : id) byte = static_cast<uint8_t>(random());
  // Version 4, variant 1 of RFC 4122.
  id[6] = static_cast<uint8_t>((id[6] & 0x0f) | 0x40);
  id[8] = static_cast<uint8_t>((id[8] & 0x3f) | 0x80);
  return id;
}

void SessionTable::touch(const SessionId& id, const SessionOwner& owner, Time now) {
  const MutexLock lock(mutex_);
  auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    make_room_for(owner.account);
    found = sessions_.emplace(id, Session{owner, now}).first;
  } else {
    by_use_.erase({found->second.last_use, id});
    by_account_[found->second.owner.account].erase({found->second.last_use, id});
    found->second.last_use = now;
  }
  by_use_.emplace(now, id);
  by_account_[found->second.owner.account].emplace(now, id);
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
  const auto its = by_account_.find(session->second.owner.account);
  its->second.erase(key);
  if (its->second.empty()) by_account_.erase(its);
  return sessions_.erase(session);
}

void SessionTable::end(const SessionPattern& pattern) {
  const MutexLock lock(mutex_);
  const auto first = pattern.id ? sessions_.lower_bound(*pattern.id) : sessions_.begin();
  const auto last = pattern.id ? sessions_.upper_bound(*pattern.id) : sessions_.end();
  for (auto session = first; session != last;) {
    if (pattern.matches(session->first, session->second.owner.user)) {
      session = remove(session);
    } else {
      ++session;
    }
  }
}

bool SessionTable::is_of_another(const SessionId& id, const SessionOwner& owner) const {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  return found != sessions_.end() && found->second.owner.account != owner.account;
}

std::vector<SessionId> SessionTable::expire(Time before) {
  const MutexLock lock(mutex_);
  std::vector<SessionId> ended;
  while (!by_use_.empty() && by_use_.begin()->first <= before) {
    ended.push_back(by_use_.begin()->second);
    remove(sessions_.find(ended.back()));
  }
  return ended;
}

std::vector<SessionId> SessionTable::list() const {
  const MutexLock lock(mutex_);
  std::vector<SessionId> ids;
  for (const auto& [id, session] : sessions_) ids.push_back(id);
  return ids;
}

size_t SessionTable::size() const {
  const MutexLock lock(mutex_);
  return sessions_.size();
}

}  // namespace gridmount::wire
