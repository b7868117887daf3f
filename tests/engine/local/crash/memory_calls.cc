// Replaces the C library's calls that allocate memory and map files, so that one of them can fail
// (fault_injector.h).
#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>

#include "tests/engine/local/crash/fault_injector.h"

using gridmount::local::testing::FaultInjector;
using gridmount::local::testing::FaultKind;

// glibc's internal names of these functions.
extern "C" void* __libc_malloc(size_t size);
extern "C" void* __libc_calloc(size_t count, size_t size);
extern "C" void* __libc_realloc(void* block, size_t size);
extern "C" void* __libc_memalign(size_t alignment, size_t size);

namespace {

bool fails() {
  return FaultInjector::instance().fails(FaultKind::kAllocation);
}

}  // namespace

extern "C" void* malloc(size_t size) {
  return fails() ? nullptr : __libc_malloc(size);
}

extern "C" void* calloc(size_t count, size_t size) {
  return fails() ? nullptr : __libc_calloc(count, size);
}

extern "C" void* realloc(void* block, size_t size) {
  return fails() ? nullptr : __libc_realloc(block, size);
}

extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}

extern "C" int posix_memalign(void** block, size_t alignment, size_t size) {
  if (fails()) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

extern "C" void* mmap(void* at, size_t size, int protection, int flags, int fd,
                      off_t offset) noexcept {
  using Function = void* (*)(void*, size_t, int, int, int, off_t);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "mmap"));
  if (fd >= 0 && FaultInjector::instance().fails(FaultKind::kMap, fd)) return MAP_FAILED;
  return real(at, size, protection, flags, fd, offset);
}
