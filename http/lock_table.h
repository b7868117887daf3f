// The locks of WebDAV. Source: RFC 4918, 6 and 7.
//
// Locks are of clients of HTTP only: programs in a mount and drivers do not see them. They are kept
// in memory, so they end with the program. A path is that of a file or directory: the name of its
// bucket, a slash, and Place::path.
//
// A lock is made, and a change checks the locks, while the thread has a transaction of the store.
// So no change that began without the lock is committed after the lock was made.
//
// Thread-safe. The mutex is a leaf: it is not held while anything else is called.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"

namespace gridmount::http {

inline constexpr size_t kLocksMax = 1024;
// Any number of shared locks can cover one path, and PROPFIND shows them all.
inline constexpr size_t kSharedLocksMax = 8;
inline constexpr std::chrono::seconds kLockTimeMax{3600};
inline constexpr std::chrono::seconds kLockTimeDefault{600};
// The XML that a client gives to say whose the lock is.
inline constexpr size_t kLockOwnerBytesMax = 2048;

struct Lock {
  std::string path;
  std::string href;   // that was locked
  std::string owner;  // the content of the element `owner`, as XML
  bool is_exclusive = true;
  bool is_deep = false;  // also covers what is below the directory
  std::chrono::seconds time = kLockTimeDefault;
  // Set by LockTable::add().
  std::string token = {};
  std::chrono::steady_clock::time_point end = {};
};

// What a change of a path is about.
enum class LockScope {
  kContent,  // the content or the properties
  kName,     // the name: the path appears or vanishes. Includes kContent
  kTree,     // the name, and everything below the path
};

class LockTable {
 public:
  using Clock = std::chrono::steady_clock;
  explicit LockTable(size_t locks_max = kLocksMax) : locks_max_(locks_max) {}

  // Adds the lock and returns it with its token. Fails with LockConflict if another lock excludes
  // it, and with TooManyRequests if there are locks_max locks, or kSharedLocksMax shared ones.
  Result<Lock> add(Lock lock, Clock::time_point now = Clock::now());
  // Lets a lock that covers the path begin again. Without `time` it lasts as long as before.
  // Returns nothing if there is no such lock.
  std::optional<Lock> refresh(const std::string& token, std::string_view path,
                              std::optional<std::chrono::seconds> time,
                              Clock::time_point now = Clock::now());
  // Returns false if no lock with that token covers the path.
  bool remove(const std::string& token, std::string_view path,
              Clock::time_point now = Clock::now());
  // Removes the locks with these tokens.
  void remove_all(const std::vector<std::string>& tokens);

  // Returns the locks that cover the path.
  std::vector<Lock> covering(std::string_view path, Clock::time_point now = Clock::now()) const;
  // Returns the tokens of the locks at the path and below it.
  std::vector<std::string> tokens_below(std::string_view path) const;
  // Fails with Locked if the change needs the token of a lock that is not among `tokens`. If shared
  // locks cover a path, the token of one of them is enough.
  Status check(std::string_view path, LockScope scope, const std::vector<std::string>& tokens,
               Clock::time_point now = Clock::now()) const;

 private:
  void remove_ended(Clock::time_point now) GM_REQUIRES(mutex_);

  const size_t locks_max_;
  mutable Mutex mutex_;
  std::vector<Lock> locks_ GM_GUARDED_BY(mutex_);
};

// What a change needs to know of locks.
struct LockClaim {
  std::shared_ptr<LockTable> table;
  std::vector<std::string> tokens;  // that the client has shown
};

// Returns the path by which a LockTable knows a file or directory.
inline std::string lock_path(std::string_view bucket, std::string_view path) {
  return std::string(bucket) + "/" + std::string(path);
}

// Returns the element `activelock`.
std::string active_lock(const Lock& lock);

}  // namespace gridmount::http
