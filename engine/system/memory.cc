#include "engine/system/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace gridmount::system {

void will_need(const void* begin, size_t bytes) {
  const auto page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t into_page = reinterpret_cast<uintptr_t>(begin) % page_bytes;
  const auto* const first = static_cast<const char*>(begin) - into_page;
  // The call is only a hint, so its errors do not matter.
  (void)::madvise(const_cast<char*>(first), into_page + bytes, MADV_WILLNEED);
}

void tune_allocator() {
  constexpr int kMmapThresholdBytes = 8 * 1024 * 1024;
  constexpr int kTrimThresholdBytes = 64 * 1024 * 1024;
  // Without this limit, most threads get arenas of their own, and an arena keeps the most memory
  // that it ever needed.
  constexpr int kArenasMax = 2;
  mallopt(M_MMAP_THRESHOLD, kMmapThresholdBytes);
  mallopt(M_TRIM_THRESHOLD, kTrimThresholdBytes);
  mallopt(M_ARENA_MAX, kArenasMax);
}

}  // namespace gridmount::system
