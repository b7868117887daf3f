#include "tests/bench/engine/memory_load.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

#include "engine/system/file.h"
#include "tests/bench/engine/cpu_time.h"

namespace gridmount::bench {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kLoads = 4'000'000;

// Makes loads at the places of a pseudorandom sequence that depends on the loaded bytes.
uint64_t load(const uint8_t* map, uint64_t lines, uint64_t loads, uint64_t state) {
  for (uint64_t i = 0; i < loads; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const uint64_t line = ((state >> 32) * lines) >> 32;  // a file has fewer than 2^32 lines
    state += map[line * kLineBytes];
  }
  return state;
}

}  // namespace

double seconds_for_a_random_load(const std::filesystem::path& file) {
  const uint64_t bytes = std::filesystem::file_size(file);
  Result<system::File> opened = system::File::open(file, O_RDONLY);
  if (!opened) throw std::runtime_error(opened.error().message());
  void* const map = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, opened->fd(), 0);
  if (map == MAP_FAILED) {
    throw std::runtime_error("cannot map " + file.string() + ": " +
                             std::system_category().message(errno));
  }
  const auto* const at = static_cast<const uint8_t*>(map);
  volatile uint64_t state = load(at, bytes / kLineBytes, kLoads, 1);
  const double before = process_cpu_seconds();
  state = load(at, bytes / kLineBytes, kLoads, state);
  const double seconds = (process_cpu_seconds() - before) / kLoads;
  ::munmap(map, bytes);
  return seconds;
}

}  // namespace gridmount::bench
