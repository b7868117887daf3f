#include "engine/local/files/map_guard.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

#include "engine/local/files/fault_scope.h"

namespace gridmount::local {
namespace {

constexpr uint64_t kReadable = UINT64_MAX;

// One guarded map. The signal handler reads the slots and must not take a lock, so their members
// are atomic. A slot whose `begin` is zero is free.
struct GuardedMap {
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;
  std::atomic<uint64_t> unreadable = kReadable;
  std::atomic<MapGuard::Contents> contents = MapGuard::Contents::kPages;
};

std::array<GuardedMap, MapGuard::kGuardsMax> slots;
std::mutex slots_mutex;  // held while a slot is acquired or released
const auto system_page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));

// Returns where the pages of the newest snapshot end according to the meta pages. If a meta page
// cannot be read, it is replaced by zeros, and at least the two meta pages count as data.
uint64_t data_bytes(const uint8_t* map) {
  constexpr uint64_t kPageSizeOffset = 40;
  constexpr uint64_t kLastPageOffset = 136;
  const auto read = [&](uint64_t offset, auto number) {
    std::memcpy(&number, map + offset, sizeof(number));
    return number;
  };
  const auto bytes = read(kPageSizeOffset, uint32_t{});
  if (bytes < 512 || bytes > 32768) return 2 * system_page_bytes;
  const uint64_t last =
      std::max(read(kLastPageOffset, uint64_t{}), read(bytes + kLastPageOffset, uint64_t{}));
  return std::max(2 * system_page_bytes, (last + 1) * bytes);
}

struct AddressRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// Finds the mapping in /proc/self/maps, as LMDB does not report where it has mapped its file.
std::optional<AddressRange> find_mapping(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  std::error_code error;
  const std::string path = std::filesystem::canonical(file, error).string();
  std::ifstream maps("/proc/self/maps");
  std::optional<AddressRange> found;
  for (std::string line; std::getline(maps, line);) {
    AddressRange range;
    unsigned device_major = 0;
    unsigned device_minor = 0;
    uint64_t inode = 0;
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*s %x:%x %" SCNu64 " %n",
                    &range.begin, &range.end, &device_major, &device_minor, &inode,
                    &path_at) != 5) {
      continue;
    }
    // On layered file systems the device in this line differs from that of stat(), so the path
    // counts too.
    const bool is_file = inode == status.st_ino && device_major == major(status.st_dev) &&
                         device_minor == minor(status.st_dev);
    const bool is_path = !path.empty() && path_at > 0 && line.substr(path_at) == path;
    if (!is_file && !is_path) continue;
    // The process may have mapped the file more than once. Take the largest mapping, which is
    // assumed to be the newest.
    if (!found || range.end - range.begin > found->end - found->begin) found = range;
  }
  return found;
}

}  // namespace

// Async-signal-safe: uses only atomics and system calls.
std::optional<MapGuard::Contents> MapGuard::map_zeros_at(void* where, bool behind_end) {
  const auto address = reinterpret_cast<uintptr_t>(where);
  for (GuardedMap& slot : slots) {
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= slot.end.load(std::memory_order_relaxed)) {
      continue;
    }
    const MapGuard::Contents contents = slot.contents.load(std::memory_order_relaxed);
    const bool is_table = contents == MapGuard::Contents::kReaders;
    if (!is_table && !behind_end &&
        address - begin >= data_bytes(std::bit_cast<const uint8_t*>(begin))) {
      return std::nullopt;
    }
    const uintptr_t into_page = address % system_page_bytes;
    const uintptr_t first = is_table ? begin : address - into_page;
    const uintptr_t bytes =
        is_table ? slot.end.load(std::memory_order_relaxed) - begin : system_page_bytes;
    // The thread sanitizer takes the C library's mmap() for a write to the range and reports a race
    // with the threads that read it. Those reads are intended, so this calls the kernel directly.
    constexpr long kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    const long protection = is_table ? PROT_READ | PROT_WRITE : PROT_READ;
    const long zeros = ::syscall(SYS_mmap, first, bytes, protection, kFlags, -1L, 0L);
    if (zeros == -1) return std::nullopt;
    uint64_t readable = kReadable;
    slot.unreadable.compare_exchange_strong(readable, address - into_page - begin);
    return contents;
  }
  return std::nullopt;
}

MapGuard::MapGuard(const std::filesystem::path& file, Contents contents) {
  const std::optional<AddressRange> range = find_mapping(file);
  if (!range) return;
  install_fault_handler();
  const std::lock_guard lock(slots_mutex);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].begin != 0) continue;
    slots[i].unreadable = kReadable;
    slots[i].contents = contents;
    slots[i].end = range->end;
    slots[i].begin.store(range->begin, std::memory_order_release);
    slot_ = i;
    return;
  }
}

MapGuard::~MapGuard() {
  if (!slot_) return;
  const std::lock_guard lock(slots_mutex);
  slots[*slot_].begin = 0;
}

const uint8_t* MapGuard::map() const {
  return slot_ ? std::bit_cast<const uint8_t*>(slots[*slot_].begin.load()) : nullptr;
}

std::optional<uint64_t> MapGuard::unreadable() const {
  if (!slot_) return std::nullopt;
  const uint64_t offset = slots[*slot_].unreadable.load();
  return offset == kReadable ? std::nullopt : std::optional(offset);
}

}  // namespace gridmount::local
