#include "tests/engine/local/crash/crash_folder.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace gridmount::local::testing {

namespace fs = std::filesystem;

fs::path make_crash_folder() {
  constexpr uint64_t kMemoryBytesMin = uint64_t{512} << 20;
  struct statvfs memory {};
  const bool in_memory = ::access("/dev/shm", W_OK) == 0 && ::statvfs("/dev/shm", &memory) == 0 &&
                         memory.f_bavail * memory.f_frsize >= kMemoryBytesMin;
  std::string name = (in_memory ? fs::path("/dev/shm") : fs::canonical(fs::temp_directory_path())) /
                     "gridmount-crash-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  return name;
}

}  // namespace gridmount::local::testing
