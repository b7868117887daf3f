// The memory limit of the process, and how a daemon divides its memory.
//
// Thread-safety: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace gridmount::system {

// Returns the least of the machine's memory and of the limits of the process's control groups
// (versions 1 and 2, their parents included). A limit that cannot be read is ignored. `groups` and
// `mounted` are the paths where Linux reports them.
uint64_t memory_limit(const std::filesystem::path& groups = "/proc/self/cgroup",
                      const std::filesystem::path& mounted = "/sys/fs/cgroup");

// With less memory the kernel may kill a daemon under load: an idle program takes a quarter of it,
// and messages of 48 MB and documents of 16 MB must fit for a moment.
inline constexpr uint64_t kLeastMemory = uint64_t{96} << 20;

// The memory of each part. With 2 GiB or more all shares have their largest values. With less they
// shrink, but never below what each part needs to work.
struct MemoryShares {
  uint64_t dirty_bytes;      // file data that is not yet committed
  size_t request_bytes;      // messages received
  size_t reply_bytes;        // messages sent
  uint64_t operation_bytes;  // one sort, or one stage that gathers documents
  uint64_t filter_bytes;     // the filters of all commands together
  size_t worker_threads;     // operations at one time
};
MemoryShares share_out(uint64_t memory_bytes);

}  // namespace gridmount::system
