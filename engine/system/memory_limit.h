// How much memory the process may have, and how a daemon shares it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace gridmount::system {

// The least of the machine's memory and of the limits of the control groups that the process is in,
// of version 1 and 2, their parents' included. What cannot be read limits nothing.
// `groups` and `mounted` are where Linux tells of them.
uint64_t memory_limit(const std::filesystem::path& groups = "/proc/self/cgroup",
                      const std::filesystem::path& mounted = "/sys/fs/cgroup");

// Below it a daemon may be ended by the kernel under load: a program without anything to do takes a
// quarter of it, and messages of 48 MB and documents of 16 MB have to fit for a moment.
inline constexpr uint64_t kLeastMemory = uint64_t{96} << 20;

// What each part may take. With 2 GiB and more these are the largest there are, with less they
// shrink, but never below what each needs to work.
struct MemoryShares {
  uint64_t dirty_bytes;      // data of files that is not yet committed
  size_t request_bytes;      // messages received
  size_t reply_bytes;        // and sent
  uint64_t operation_bytes;  // of one sort or one stage that gathers documents
  uint64_t filter_bytes;     // of the filters of all commands together
  size_t worker_threads;     // operations at one time
};
MemoryShares share_out(uint64_t memory_bytes);

}  // namespace gridmount::system
