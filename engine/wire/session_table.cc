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

void SessionTable::touch(const SessionId& id, const std::string& owner, Time now) {
  const MutexLock lock(mutex_);
  auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    make_room_for(owner);
    found = sessions_.emplace(id, Session{owner, now}).first;
  } else {
    by_use_.erase({found->second.last_use, id});
    by_owner_[found->second.owner].erase({found->second.last_use, id});
    found->second.last_use = now;
  }
  by_use_.emplace(now, id);
  by_owner_[found->second.owner].emplace(now, id);
}

void SessionTable::make_room_for(const std::string& owner) {
  const auto its = by_owner_.find(owner);
  if (its != by_owner_.end() && its->second.size() >= share_of(sessions_max_)) {
    remove(sessions_.find(its->second.begin()->second));
  }
  if (!by_use_.empty() && by_use_.size() >= sessions_max_) {
    remove(sessions_.find(by_use_.begin()->second));
  }
}

void SessionTable::remove(Sessions::iterator session) {
  const std::pair key(session->second.last_use, session->first);
  by_use_.erase(key);
  const auto its = by_owner_.find(session->second.owner);
  its->second.erase(key);
  if (its->second.empty()) by_owner_.erase(its);
  sessions_.erase(session);
}

bool SessionTable::end(const SessionId& id) {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return false;
  remove(found);
  return true;
}

bool SessionTable::is_of_another(const SessionId& id, const std::string& owner) const {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  return found != sessions_.end() && found->second.owner != owner;
}

std::vector<SessionId> SessionTable::end_all() {
  const MutexLock lock(mutex_);
  std::vector<SessionId> ended;
  for (const auto& [id, session] : sessions_) ended.push_back(id);
  sessions_.clear();
  by_use_.clear();
  by_owner_.clear();
  return ended;
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
