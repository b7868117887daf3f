// One system call of a user on the mount, as crash tests choose, make and model it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gridmount::fuse::testing {

enum class CallKind {
  // Names and attributes. Paths are below the user's folder, which is "".
  kMakeFolder,
  kRemoveFolder,
  kUnlink,
  kRename,    // to `target`
  kExchange,  // with `target`
  kLink,      // `target` is a new name of it
  kMakeSymlink,
  kChangeMode,
  kSetXattr,  // to `bytes`
  kRemoveXattr,
  kSetTime,     // mtime, to some time of 2001
  kResizePath,  // truncate(2)
  // Content, by `slot`: which of the user's open files.
  kCreate,
  kOpen,  // `flags` may have O_TRUNC and O_SYNC or O_DSYNC
  kClose,
  kWrite,
  kResize,  // ftruncate(2)
  kPunch,
  kZero,
  kAllocate,  // behind the end
  kSync,
  kSyncData,
  kSyncRange,  // sync_file_range(2), which promises nothing
  // `map`: which of the user's mappings.
  kMap,  // all of the file
  kStore,
  kSyncMap,  // msync(2), MS_SYNC
  kUnmap,
  // Else.
  kSyncFolder,
  kSyncFileSystem,  // syncfs(2), which promises nothing
  kPause,           // `size` microseconds
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

// The calls of one user, one after the other; of each session, from mounting to unmounting, the
// calls before that end.
struct Program {
  std::vector<Call> calls;
  std::vector<size_t> session_ends;  // the last is calls.size()
};

// For messages.
std::string text_of(const Call& call);

}  // namespace gridmount::fuse::testing
