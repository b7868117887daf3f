// Shared mappings: made, written, read, synced and unmapped while their file changes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/mount/differential/step.h"

namespace gridmount::differential {

namespace {

constexpr size_t kMapMax = 1U << 20;

Step map_file(Chance& chance, const Side& model) {
  const size_t slot = chance.file_handle(model, O_RDWR);
  const size_t map = chance.below(kMaps);
  return {
      .text = call_text("mmap", slot, "PROT_READ|PROT_WRITE", "MAP_SHARED") + " as map " +
              std::to_string(map),
      .actor = {},
      .run =
          [=](Side& side) {
            side.put(map, Map{});
            const int fd = side.handle(slot).fd;
            struct stat found {};
            if (::fstat(fd, &found) != 0) return outcome_of(-1);
            const size_t size =
                S_ISREG(found.st_mode) ? std::min<size_t>(found.st_size, kMapMax) : 4096;
            void* const bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (bytes == MAP_FAILED) return outcome_of(-1);
            if (!S_ISREG(found.st_mode)) {
              ::munmap(bytes, size);  // a device, whose contents are unknown
              return Outcome{};
            }
            side.put(map, Map{static_cast<char*>(bytes), size, ::fcntl(fd, F_DUPFD_CLOEXEC, 0)});
            return outcome_of(static_cast<int64_t>(size));
          },
      .handles = {slot}};
}

// Storing to a mapping changes the times only if the page was clean, and the kernel decides when a
// page becomes clean. So the step either cleans the page before, or sets the times afterwards.
Step store(Chance& chance, const Side& model) {
  const size_t map = chance.below(kMaps);
  const bool clean_before = chance.one_in(10);
  const int64_t offset = chance.offset();
  const std::string bytes = chance.bytes(1 + chance.below(6000));
  (void)model;
  return {.text = call_text("store", "map " + std::to_string(map), offset, bytes.size(),
                            clean_before ? "after msync" : "then futimens"),
          .actor = {},
          .run = [=](Side& side) {
            const size_t reach = side.reach(map);
            if (reach == 0) return Outcome{};
            if (clean_before) ::msync(side.map(map).bytes, side.map(map).size, MS_SYNC);
            const size_t at = static_cast<size_t>(offset) % reach;
            const size_t size = std::min(bytes.size(), reach - at);
            bytes.copy(side.map(map).bytes + at, size);
            if (!clean_before) {
              const timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
              ::futimens(side.map(map).fd, now);
            }
            return outcome_of(static_cast<int64_t>(size));
          }};
}

Step load(Chance& chance, const Side&) {
  const size_t map = chance.below(kMaps);
  const int64_t offset = chance.offset();
  const size_t wanted = chance.size();
  return {.text = call_text("load", "map " + std::to_string(map), offset, wanted),
          .actor = {},
          .run = [=](Side& side) {
            const size_t reach = side.reach(map);
            if (reach == 0) return Outcome{};
            const size_t at = static_cast<size_t>(offset) % reach;
            const size_t size = std::min(wanted, reach - at);
            return outcome_of(static_cast<int64_t>(size),
                              std::string(side.map(map).bytes + at, size));
          }};
}

Step sync_map(Chance& chance, const Side&) {
  const size_t map = chance.below(kMaps);
  const int flags = chance.pick({MS_SYNC, MS_ASYNC, MS_ASYNC, MS_ASYNC});
  return {.text = call_text("msync", "map " + std::to_string(map),
                            flags == MS_SYNC ? "MS_SYNC" : "MS_ASYNC"),
          .actor = {},
          .run = [=](Side& side) {
            const Map& held = side.map(map);
            if (held.bytes == nullptr) return Outcome{};
            return outcome_of(::msync(held.bytes, held.size, flags));
          }};
}

Step unmap(Chance& chance, const Side&) {
  const size_t map = chance.below(kMaps);
  return {.text = call_text("munmap", "map " + std::to_string(map)),
          .actor = {},
          .run = [=](Side& side) {
            side.put(map, Map{});
            return Outcome{};
          }};
}

}  // namespace

void add_map_calls(std::vector<CallKind>& kinds) {
  kinds.insert(kinds.end(), {{"map", 12, map_file},
                             {"map", 15, store},
                             {"map", 10, load},
                             {"map", 3, sync_map},
                             {"map", 3, unmap}});
}

}  // namespace gridmount::differential
