// The users of a mount, in a process of their own. The process makes the calls of their programs,
// with one thread per user, and records in shared memory when each call began and returned.
//
// The clock is a counter that all processes share. The process that serves the mount stamps each
// event on the store's files with the counter. A call had begun before an event if its `begun` is
// set and not greater than the event's stamp. The call had returned before the event if the same is
// true of its `returned`.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/fuse/crash/call.h"

namespace gridmount::fuse::testing {

struct CallTimes {
  std::atomic<uint64_t> begun;  // 0: not yet
  std::atomic<uint64_t> returned;
  std::atomic<int64_t> modified_ns;  // the file's mtime, if the user asked for it; otherwise 0
};

inline constexpr size_t kUsersMax = 4;
inline constexpr size_t kCallsMax = 4096;  // per user
inline constexpr size_t kSessionsMax = 4;

// The clock and times that the processes share.
class CrashClock {
 public:
  CrashClock();
  ~CrashClock();
  CrashClock(const CrashClock&) = delete;
  CrashClock& operator=(const CrashClock&) = delete;

  uint64_t now() const { return shared_->now.load(); }
  uint64_t tick() { return shared_->now.fetch_add(1) + 1; }
  CallTimes& call(size_t user, size_t number) { return shared_->calls[user][number]; }
  const CallTimes& call(size_t user, size_t number) const { return shared_->calls[user][number]; }
  // The clock's time when the store was closed at the end of the session; 0 before that.
  std::atomic<uint64_t>& closed(size_t session) { return shared_->closed[session]; }

 private:
  struct Shared {
    std::atomic<uint64_t> now;
    std::atomic<uint64_t> closed[kSessionsMax];
    CallTimes calls[kUsersMax][kCallsMax];
  };
  Shared* shared_;
};

struct UsersOptions {
  std::filesystem::path mount_point;
  bool unmounts = true;              // the users unmount at the end of the session
  std::set<CallKind> left_out = {};  // these calls are recorded but not made
};

// Forks the process of a session's users. They wait until something is written to the pipe whose
// reading end is `start`. While this function runs, no other thread of this process may be working.
// The child ends with status 0 if all calls, and the unmounting, did what they should. If the child
// has no permission to unmount, the caller must unmount, and the child also ends with status 0.
pid_t start_users(const std::vector<Program>& programs, size_t session, const UsersOptions& options,
                  int start, CrashClock& clock);

// Returns the directory of a user below the mount point.
std::string folder_of_user(size_t user);

}  // namespace gridmount::fuse::testing
