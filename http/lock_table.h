// The locks of WebDAV. Source: RFC 4918, chapters 6 and 7.
//
// The locks bind only clients of HTTP. Programs in a mount and drivers neither see nor obey them.
// The table is in memory, so all locks end with the program. In this header, a path consists of the
// name of the bucket, a slash, and Place::path (lock_path()). It names a file or directory.
//
// A thread must have a transaction of the store while it adds a lock. A thread that changes a path
// must check the locks in the transaction of the change. So no change that was checked without the
// lock is committed after the lock was added.
//
// Thread-safe. The mutex is a leaf: no function calls other parts of the program while it holds the
// mutex.
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

// The limit for all locks of a table.
inline constexpr size_t kLocksMax = 1024;
// The limit for the shared locks of a table. It is small, because all of them may cover one path,
// and PROPFIND then shows them all.
inline constexpr size_t kSharedLocksMax = 8;
// How long a lock lasts at most, and how long it lasts if the client asks for no time.
inline constexpr std::chrono::seconds kLockTimeMax{3600};
inline constexpr std::chrono::seconds kLockTimeDefault{600};
// The limit for Lock::owner.
inline constexpr size_t kLockOwnerBytesMax = 2048;

struct Lock {
  std::string path;
  std::string href;   // the path of the URL that the client has locked
  std::string owner;  // the client's text about its user: the content of the XML element `owner`
  bool is_exclusive = true;
  bool is_deep = false;                          // also covers everything below the directory
  std::chrono::seconds time = kLockTimeDefault;  // from add() or refresh() to the end
  // Set by LockTable::add(). refresh() sets `end` again.
  std::string token = {};
  std::chrono::steady_clock::time_point end = {};
};

// What a change of a path changes, and the locks whose tokens the change needs.
enum class LockScope {
  kContent,  // the content or the properties: the locks that cover the path
  kName,     // the path appears or vanishes: also the locks of its parent
  kTree,     // the path vanishes with everything below it: as kName, and the locks below the path
};

class LockTable {
 public:
  using Clock = std::chrono::steady_clock;
  explicit LockTable(size_t locks_max = kLocksMax) : locks_max_(locks_max) {}

  // Adds the lock, and returns it with its token and its end. Fails with LockConflict if an
  // existing lock excludes the new one: one of the two is exclusive, and one covers the path of the
  // other. Fails with TooManyRequests if the table has `locks_max` locks, or if the lock is shared
  // and the table has kSharedLocksMax shared locks.
  Result<Lock> add(Lock lock, Clock::time_point now = Clock::now());
  // If a lock with the token covers the path, starts the time of the lock again, and returns the
  // lock. `time` replaces Lock::time, if given. Returns nothing if there is no such lock.
  std::optional<Lock> refresh(const std::string& token, std::string_view path,
                              std::optional<std::chrono::seconds> time,
                              Clock::time_point now = Clock::now());
  // If a lock with the token covers the path, removes the lock and returns true. Otherwise returns
  // false.
  bool remove(const std::string& token, std::string_view path,
              Clock::time_point now = Clock::now());
  // Removes the locks with these tokens.
  void remove_all(const std::vector<std::string>& tokens);

  // Returns the locks that cover the path.
  std::vector<Lock> covering(std::string_view path, Clock::time_point now = Clock::now()) const;
  // Returns the tokens of the locks at the path and below it.
  std::vector<std::string> tokens_below(std::string_view path) const;
  // Checks whether a client that has shown `tokens` may change the path. Fails with Locked if a
  // lock forbids the change and its token is not among `tokens`. The message is Lock::href of that
  // lock. If several shared locks cover the path, the token of one of them is enough.
  Status check(std::string_view path, LockScope scope, const std::vector<std::string>& tokens,
               Clock::time_point now = Clock::now()) const;

 private:
  void remove_ended(Clock::time_point now) GM_REQUIRES(mutex_);

  const size_t locks_max_;
  mutable Mutex mutex_;
  std::vector<Lock> locks_ GM_GUARDED_BY(mutex_);
};

// The locks that a change must respect, and the tokens that permit it.
struct LockClaim {
  std::shared_ptr<LockTable> table;
  std::vector<std::string> tokens;  // the tokens that the client has shown in the field If
};

// Returns the path that a LockTable uses for a file or directory. `path` is Place::path.
inline std::string lock_path(std::string_view bucket, std::string_view path) {
  return std::string(bucket) + "/" + std::string(path);
}

// Returns the XML element `activelock` that describes the lock. Its timeout is the time that the
// lock still has from `now` on, in whole seconds, rounded up (RFC 4918, 14.29).
std::string active_lock(
    const Lock& lock, std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());

}  // namespace gridmount::http
