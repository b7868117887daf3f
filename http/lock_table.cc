#include "http/lock_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <utility>

#include "http/site_error.h"
#include "http/xml_document.h"

namespace gridmount::http {

namespace {

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

bool covers(const Lock& lock, std::string_view path) {
  return lock.path == path || (lock.is_deep && is_below(path, lock.path));
}

std::string_view parent_of(std::string_view path) {
  return path.substr(0, path.rfind('/'));
}

bool has(const std::vector<std::string>& tokens, const std::string& token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

// A UUID of version 4 (RFC 9562).
std::string new_token() {
  static thread_local std::mt19937_64 random = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  const uint64_t high = (random() & ~uint64_t{0xF000}) | 0x4000;
  const uint64_t low = (random() >> 2) | (uint64_t{1} << 63);
  return fmt::format("urn:uuid:{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32,
                     (high >> 16) & 0xFFFF, high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFF);
}

// Finds out whether the tokens of a change are enough.
class TokenCheck {
 public:
  explicit TokenCheck(const std::vector<std::string>& tokens) : tokens_(tokens) {}

  // Locks with the same `place` protect the same thing, so the token of one of them is enough.
  void add(std::string_view place, const Lock& lock) {
    const auto found = std::find_if(places_.begin(), places_.end(),
                                    [&](const Protected& each) { return each.place == place; });
    Protected& known =
        found == places_.end() ? places_.emplace_back(Protected{place, &lock, false}) : *found;
    known.may_change = known.may_change || has(tokens_, lock.token);
  }
  Status result() const {
    for (const Protected& each : places_) {
      if (!each.may_change) return fail(kLocked, each.lock->href);
    }
    return {};
  }

 private:
  struct Protected {
    std::string_view place;
    const Lock* lock;
    bool may_change;
  };

  const std::vector<std::string>& tokens_;
  std::vector<Protected> places_;
};

}  // namespace

void LockTable::remove_ended(Clock::time_point now) {
  std::erase_if(locks_, [&](const Lock& lock) { return lock.end <= now; });
}

Result<Lock> LockTable::add(Lock lock, Clock::time_point now) {
  const MutexLock held(mutex_);
  remove_ended(now);
  for (const Lock& other : locks_) {
    const bool meets = covers(other, lock.path) || covers(lock, other.path);
    if (meets && (lock.is_exclusive || other.is_exclusive)) return fail(kLockConflict, other.href);
  }
  const auto shared = std::count_if(locks_.begin(), locks_.end(),
                                    [](const Lock& each) { return !each.is_exclusive; });
  const bool has_room = lock.is_exclusive || shared < static_cast<std::ptrdiff_t>(kSharedLocksMax);
  if (locks_.size() >= locks_max_ || !has_room) {
    return fail(kTooManyRequests, "there are too many locks");
  }
  lock.token = new_token();
  lock.end = now + lock.time;
  return locks_.emplace_back(std::move(lock));
}

std::optional<Lock> LockTable::refresh(const std::string& token, std::string_view path,
                                       std::optional<std::chrono::seconds> time,
                                       Clock::time_point now) {
  const MutexLock held(mutex_);
  remove_ended(now);
  for (Lock& lock : locks_) {
    if (lock.token != token || !covers(lock, path)) continue;
    if (time) lock.time = *time;
    lock.end = now + lock.time;
    return lock;
  }
  return std::nullopt;
}

bool LockTable::remove(const std::string& token, std::string_view path, Clock::time_point now) {
  const MutexLock held(mutex_);
  remove_ended(now);
  return std::erase_if(locks_, [&](const Lock& lock) {
           return lock.token == token && covers(lock, path);
         }) > 0;
}

void LockTable::remove_all(const std::vector<std::string>& tokens) {
  const MutexLock held(mutex_);
  std::erase_if(locks_, [&](const Lock& lock) { return has(tokens, lock.token); });
}

std::vector<Lock> LockTable::covering(std::string_view path, Clock::time_point now) const {
  const MutexLock held(mutex_);
  std::vector<Lock> found;
  for (const Lock& lock : locks_) {
    if (lock.end > now && covers(lock, path)) found.push_back(lock);
  }
  return found;
}

std::vector<std::string> LockTable::tokens_below(std::string_view path) const {
  const MutexLock held(mutex_);
  std::vector<std::string> tokens;
  for (const Lock& lock : locks_) {
    if (lock.path == path || is_below(lock.path, path)) tokens.push_back(lock.token);
  }
  return tokens;
}

Status LockTable::check(std::string_view path, LockScope scope,
                        const std::vector<std::string>& tokens, Clock::time_point now) const {
  const MutexLock held(mutex_);
  TokenCheck check(tokens);
  for (const Lock& lock : locks_) {
    if (lock.end <= now) continue;
    const bool is_of_parent = scope != LockScope::kContent && lock.path == parent_of(path);
    const bool is_of_tree = scope == LockScope::kTree && is_below(lock.path, path);
    if (covers(lock, path)) {
      check.add(path, lock);
    } else if (is_of_parent || is_of_tree) {
      check.add(lock.path, lock);
    }
  }
  return check.result();
}

std::string active_lock(const Lock& lock, std::chrono::steady_clock::time_point now) {
  const XmlName scope{"DAV:", lock.is_exclusive ? "exclusive" : "shared"};
  std::string text = "<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope>";
  text += xml_element(scope, "") + "</D:lockscope><D:depth>";
  text += lock.is_deep ? "infinity" : "0";
  text += "</D:depth>";
  if (!lock.owner.empty()) text += "<D:owner>" + lock.owner + "</D:owner>";
  const auto left = std::max(std::chrono::ceil<std::chrono::seconds>(lock.end - now),
                             std::chrono::seconds::zero());
  text += fmt::format("<D:timeout>Second-{}</D:timeout>", left.count());
  text += "<D:locktoken><D:href>" + xml_text(lock.token) + "</D:href></D:locktoken>";
  text += "<D:lockroot><D:href>" + xml_text(lock.href) + "</D:href></D:lockroot>";
  return text + "</D:activelock>";
}

}  // namespace gridmount::http
