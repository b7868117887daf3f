#include "engine/wire/session_table.h"

#include <random>
#include <string>

namespace gridmount::wire {
namespace {

constexpr ErrorCode kTooManyLogicalSessions{261};

}  // namespace

SessionId SessionTable::generate() {
  static thread_local std::mt19937_64 random{std::random_device()()};
  SessionId id{};
  for (uint8_t& byte : id) byte = static_cast<uint8_t>(random());
  // Version 4, variant 1 of RFC 4122.
  id[6] = static_cast<uint8_t>((id[6] & 0x0f) | 0x40);
  id[8] = static_cast<uint8_t>((id[8] & 0x3f) | 0x80);
  return id;
}

Status SessionTable::touch(const SessionId& id, Time now) {
  const MutexLock lock(mutex_);
  const auto found = last_use_.find(id);
  if (found != last_use_.end()) {
    found->second = now;
    return {};
  }
  if (last_use_.size() >= sessions_max_) {
    return fail(kTooManyLogicalSessions, "cannot add session into the cache: there are " +
                                             std::to_string(sessions_max_) +
                                             " sessions, as many as may be");
  }
  last_use_.emplace(id, now);
  return {};
}

bool SessionTable::end(const SessionId& id) {
  const MutexLock lock(mutex_);
  return last_use_.erase(id) != 0;
}

std::vector<SessionId> SessionTable::end_all() {
  const MutexLock lock(mutex_);
  std::vector<SessionId> ended;
  for (const auto& [id, used] : last_use_) ended.push_back(id);
  last_use_.clear();
  return ended;
}

std::vector<SessionId> SessionTable::expire(Time before) {
  const MutexLock lock(mutex_);
  std::vector<SessionId> ended;
  for (auto at = last_use_.begin(); at != last_use_.end();) {
    if (at->second > before) {
      ++at;
      continue;
    }
    ended.push_back(at->first);
    at = last_use_.erase(at);
  }
  return ended;
}

std::vector<SessionId> SessionTable::list() const {
  const MutexLock lock(mutex_);
  std::vector<SessionId> ids;
  for (const auto& [id, used] : last_use_) ids.push_back(id);
  return ids;
}

size_t SessionTable::size() const {
  const MutexLock lock(mutex_);
  return last_use_.size();
}

}  // namespace gridmount::wire
