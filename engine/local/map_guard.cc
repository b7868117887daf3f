#include "engine/local/map_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

namespace gridmount::local {
namespace {

constexpr uint64_t kReadable = UINT64_MAX;

// What the handler looks at, which may take no lock. A slot whose `begin` is zero is free.
struct Slot {
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;
  std::atomic<uint64_t> unreadable = kReadable;
};

std::array<Slot, MapGuard::kGuardsMax> slots;
std::mutex slots_mutex;  // to take and to give back
struct sigaction previous;
uintptr_t page_bytes = 4096;

// Async-signal-safe: atomics and system calls alone.
bool put_zeros_at(void* where) {
  const auto address = reinterpret_cast<uintptr_t>(where);
  for (Slot& slot : slots) {
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= slot.end.load(std::memory_order_relaxed)) {
      continue;
    }
    const uintptr_t into_page = address % page_bytes;
    void* const zeros = ::mmap(static_cast<char*>(where) - into_page, page_bytes, PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) return false;
    uint64_t readable = kReadable;
    slot.unreadable.compare_exchange_strong(readable, address - into_page - begin);
    return true;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  if (put_zeros_at(info->si_addr)) return;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
    return;
  }
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
    return;
  }
  // Back at the instruction, which faults again, the default ends the process.
  ::signal(SIGBUS, SIG_DFL);
}

void install_handler() {
  static const bool installed = [] {
    page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, &previous) == 0;
  }();
  (void)installed;
}

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// LMDB does not tell where it has mapped its file.
std::optional<Range> find_mapping(const File& file) {
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return std::nullopt;
  std::error_code error;
  const std::string path = std::filesystem::canonical(file.path(), error).string();
  std::ifstream maps("/proc/self/maps");
  std::optional<Range> found;
  for (std::string line; std::getline(maps, line);) {
    Range range;
    unsigned device_major = 0;
    unsigned device_minor = 0;
    uint64_t inode = 0;
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*s %x:%x %" SCNu64 " %n",
                    &range.begin, &range.end, &device_major, &device_minor, &inode,
                    &path_at) != 5) {
      continue;
    }
    // Layered file systems show another device here than to stat().
    const bool is_file = inode == status.st_ino && device_major == major(status.st_dev) &&
                         device_minor == minor(status.st_dev);
    const bool is_path = !path.empty() && path_at > 0 && line.substr(path_at) == path;
    if (!is_file && !is_path) continue;
    // The one that was made last, if a process has the file mapped twice, is the largest.
    if (!found || range.end - range.begin > found->end - found->begin) found = range;
  }
  return found;
}

}  // namespace

MapGuard::MapGuard(const File& file) {
  const std::optional<Range> range = find_mapping(file);
  if (!range) return;
  install_handler();
  const std::lock_guard lock(slots_mutex);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].begin != 0) continue;
    slots[i].unreadable = kReadable;
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

std::optional<uint64_t> MapGuard::unreadable() const {
  if (!slot_) return std::nullopt;
  const uint64_t offset = slots[*slot_].unreadable.load();
  return offset == kReadable ? std::nullopt : std::optional(offset);
}

}  // namespace gridmount::local
