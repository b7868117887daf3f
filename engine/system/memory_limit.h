// The memory limit of the process, and how a daemon divides its memory.
//
// Thread-safety: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace gridmount::system {

// Returns, in bytes, the smallest of these: the machine's memory, and the limits of the process's
// control groups and of their parents (versions 1 and 2). Ignores a limit that cannot be read, and
// returns the largest uint64_t if none can be read. `groups` is the file in which Linux lists the
// process's control groups, and `mounted` is the folder that has their limits.
uint64_t memory_limit(const std::filesystem::path& groups = "/proc/self/cgroup",
                      const std::filesystem::path& mounted = "/sys/fs/cgroup");

// If a daemon has less memory than this (in bytes), the kernel may kill the daemon under load. An
// idle daemon uses a quarter of this memory. The rest must have room for messages of 48 MB and
// documents of 16 MB.
inline constexpr uint64_t kLeastMemory = uint64_t{96} << 20;

// The limit of each use of a daemon's memory. With 2 GiB or more, all limits except filter_bytes
// have their largest values. filter_bytes has its largest value, 400 MiB, with 4.7 GiB or more.
// With less memory the limits are smaller, but each limit has a minimum with which the daemon still
// works.
struct MemoryShares {
  uint64_t dirty_bytes;      // file data that is not yet committed
  size_t request_bytes;      // messages from clients
  size_t reply_bytes;        // replies to clients
  uint64_t operation_bytes;  // one sort, or one stage that gathers documents
  uint64_t filter_bytes;     // the filters of all commands together
  size_t worker_threads;     // operations that run at the same time
};
MemoryShares share_out(uint64_t memory_bytes);

}  // namespace gridmount::system
