// One system call of a user on the mount. Crash tests choose it, make it and model its effect.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gridmount::fuse::testing {

enum class CallKind {
  // Calls on names and attributes. Paths are relative to the user's directory, which is "".
  kMakeFolder,
  kRemoveFolder,
  kUnlink,
  kRename,    // to `target`
  kExchange,  // with `target`
  kLink,      // `target` becomes a new name of `path`
  kMakeSymlink,
  kChangeMode,
  kSetXattr,  // to `bytes`
  kRemoveXattr,
  kSetTime,     // mtime, to a time in 2001
  kResizePath,  // truncate(2)
  // Calls on content. `slot` selects one of the user's open files.
  kCreate,
  kOpen,  // `flags` may include O_TRUNC and O_SYNC or O_DSYNC
  kClose,
  kWrite,
  kResize,  // ftruncate(2)
  kPunch,
  kZero,
  kAllocate,  // beyond the end
  kSync,
  kSyncData,
  kSyncRange,  // sync_file_range(2), which promises nothing
  // Calls on mappings. `map` selects one of the user's mappings.
  kMap,  // the whole file
  kStore,
  kSyncMap,  // msync(2), MS_SYNC
  kUnmap,
  // Other calls.
  kSyncFolder,
  kSyncFileSystem,  // syncfs(2), which promises nothing
  kPause,           // for `size` microseconds
};

struct Call {
  CallKind kind;
  std::string path = {};
  std::string target = {};
  int slot = 0;
  int map = 0;
  int flags = 0;
  uint32_t mode = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string bytes = {};
};

// The calls of one user, in order. A session lasts from mounting to unmounting. session_ends has,
// for each session, the number of calls before its end.
struct Program {
  std::vector<Call> calls;
  std::vector<size_t> session_ends;  // the last is calls.size()
};

// Returns a text for messages.
std::string text_of(const Call& call);

}  // namespace gridmount::fuse::testing
