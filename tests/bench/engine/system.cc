#include "tests/bench/engine/system.h"

#include <sys/stat.h>

namespace gridmount::bench {

uint64_t bytes_on_disk(const std::filesystem::path& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    struct stat status {};
    if (::stat(entry.path().c_str(), &status) == 0) {
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
    }
  }
  return bytes;
}

}  // namespace gridmount::bench
