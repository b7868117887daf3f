// Calls about the space of a file: allocation, hole punching, copies by the kernel, data and holes.
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/mount/differential/step.h"

namespace gridmount::differential {

namespace {

Step allocate(Chance& chance, const Side& model) {
  const size_t slot = chance.file_handle(model, O_WRONLY);
  const int mode = chance.pick({0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE,
                                FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE});
  const int64_t offset = chance.one_in(60) ? -1 : chance.offset();
  const int64_t size = chance.one_in(60) ? 0 : chance.offset() + (chance.one_in(9) ? 0 : 1);
  return {.text = call_text("fallocate", slot,
                            flags_text(mode, {{FALLOC_FL_PUNCH_HOLE, "PUNCH_HOLE"},
                                              {FALLOC_FL_ZERO_RANGE, "ZERO_RANGE"},
                                              {FALLOC_FL_KEEP_SIZE, "KEEP_SIZE"}}),
                            offset, size),
          .actor = chance.actor(),
          .run =
              [=](Side& side) {
                return outcome_of(::fallocate(side.handle(slot).fd, mode, offset, size));
              },
          .handles = {slot}};
}

Step copy(Chance& chance, const Side& model) {
  const size_t from = chance.file_handle(model, O_RDONLY);
  const size_t to = chance.one_in(5) ? from : chance.file_handle(model, O_WRONLY);
  const size_t size = chance.one_in(2) ? static_cast<size_t>(chance.offset()) : chance.size();
  const int64_t from_offset = chance.offset();
  const int64_t to_offset = chance.offset();
  const bool in_place = chance.one_in(4);
  return {.text = in_place ? call_text("copy_file_range", from, to, size)
                           : call_text("copy_file_range", from, from_offset, to, to_offset, size),
          .actor = {},
          .run =
              [=](Side& side) {
                // The required alignment depends on the file system.
                if (((side.handle(from).flags | side.handle(to).flags) & O_DIRECT) != 0) {
                  return Outcome{};
                }
                loff_t reading = from_offset;
                loff_t writing = to_offset;
                return outcome_of(
                    ::copy_file_range(side.handle(from).fd, in_place ? nullptr : &reading,
                                      side.handle(to).fd, in_place ? nullptr : &writing, size, 0));
              },
          .handles = {from, to}};
}

bool is_zero(int fd, int64_t from, int64_t to) {
  std::string bytes(64 * 1024, '\0');
  while (from < to) {
    const ssize_t got = ::pread(
        fd, bytes.data(), std::min<size_t>(bytes.size(), static_cast<size_t>(to - from)), from);
    if (got <= 0) return false;
    if (bytes.find_first_not_of('\0') < static_cast<size_t>(got)) return false;
    from += got;
  }
  return true;
}

// The positions of holes depend on the file system, but holes must hold only zeros. Restores the
// handle's offset.
Outcome look_for(int fd, int64_t offset, int whence) {
  struct stat found {};
  if (::fstat(fd, &found) != 0) return outcome_of(-1);
  if (!S_ISREG(found.st_mode)) return {};
  const int64_t before = ::lseek(fd, 0, SEEK_CUR);
  const Outcome outcome = outcome_of(::lseek(fd, offset, whence));
  ::lseek(fd, std::max<int64_t>(before, 0), SEEK_SET);
  if (outcome.error != 0 && (outcome.error != ENXIO || offset < 0 || offset >= found.st_size)) {
    return outcome;
  }
  const bool can_be_read = (::fcntl(fd, F_GETFL) & (O_ACCMODE | O_DIRECT | O_PATH)) == O_RDWR;
  if (outcome.error == ENXIO) {
    if (whence == SEEK_HOLE) return broken_rule("no hole, though the end is one");
    if (can_be_read && !is_zero(fd, offset, found.st_size)) return broken_rule("data not found");
    return {};
  }
  const int64_t at = outcome.value;
  if (at < offset || at > found.st_size) return broken_rule("found outside of what was asked for");
  if (whence == SEEK_DATA && at == found.st_size) return broken_rule("data at the end");
  if (whence == SEEK_DATA && can_be_read && !is_zero(fd, offset, at)) {
    return broken_rule("data passed over");
  }
  return {};
}

Step seek_data(Chance& chance, const Side& model) {
  const size_t slot = chance.file_handle(model, O_RDONLY);
  const int whence = chance.one_in(2) ? SEEK_DATA : SEEK_HOLE;
  const int64_t offset = chance.one_in(50) ? -1 : chance.offset();
  return {.text = call_text("lseek", slot, offset, whence == SEEK_DATA ? "SEEK_DATA" : "SEEK_HOLE"),
          .actor = {},
          .run = [=](Side& side) { return look_for(side.handle(slot).fd, offset, whence); },
          .handles = {slot}};
}

}  // namespace

void add_space_calls(std::vector<CallKind>& kinds) {
  kinds.insert(kinds.end(),
               {{"allocate", 25, allocate}, {"copy", 20, copy}, {"hole", 15, seek_data}});
}

}  // namespace gridmount::differential
