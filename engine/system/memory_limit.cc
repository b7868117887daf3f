#include "engine/system/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace gridmount::system {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kMiB = uint64_t{1} << 20;

uint64_t machine_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return kNone;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
}

// Returns kNone for "max" and for anything else that is not a number. Version 1 of control groups
// uses a huge number instead of "max".
uint64_t number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  uint64_t bytes = 0;
  return stream >> bytes ? bytes : kNone;
}

// Returns the least limit of a group and its parents. Inside a container, `group` may be a path of
// the host. Then only the limit of the root can be read.
uint64_t least_of(const std::filesystem::path& root, const std::filesystem::path& group,
                  const char* file) {
  uint64_t least = number_in(root / file);
  std::filesystem::path folder = root;
  for (const std::filesystem::path& part : group.relative_path()) {
    folder /= part;
    least = std::min(least, number_in(folder / file));
  }
  return least;
}

bool has_controller(const std::string& controllers, const std::string& wanted) {
  return ("," + controllers + ",").find("," + wanted + ",") != std::string::npos;
}

uint64_t scaled(uint64_t memory_bytes, uint64_t divisor, uint64_t least, uint64_t most) {
  return std::clamp(memory_bytes / divisor, least, most);
}

}  // namespace

uint64_t memory_limit(const std::filesystem::path& groups, const std::filesystem::path& mounted) {
  uint64_t least = machine_bytes();
  std::ifstream stream(groups);
  // Version 1 has lines like "4:cpu,memory:/path", version 2 "0::/path".
  for (std::string line; std::getline(stream, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, least_of(mounted, group, "memory.max"));
    } else if (has_controller(controllers, "memory")) {
      least = std::min(least, least_of(mounted / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

MemoryShares share_out(uint64_t memory_bytes) {
  MemoryShares shares{};
  shares.dirty_bytes = scaled(memory_bytes, 16, 4 * kMiB, 64 * kMiB);
  shares.request_bytes = scaled(memory_bytes, 16, 4 * kMiB, 128 * kMiB);
  shares.reply_bytes = shares.request_bytes;
  shares.operation_bytes = scaled(memory_bytes, 20, 4 * kMiB, 100 * kMiB);
  shares.filter_bytes = scaled(memory_bytes, 12, 4 * kMiB, 400 * kMiB);
  shares.worker_threads = scaled(memory_bytes, 16 * kMiB, 8, 64);
  return shares;
}

}  // namespace gridmount::system
