// Locks of whole files (flock(2)), and locks of ranges that belong to open file descriptions
// (fcntl(2)). The calls never block.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/mount/differential/step.h"

namespace gridmount::differential {

namespace {

Step lock_file(Chance& chance, const Side& model) {
  const size_t slot = chance.file_handle(model, O_RDONLY);
  const int kind = chance.pick({LOCK_SH, LOCK_EX, LOCK_UN});
  return {
      .text = call_text("flock", slot,
                        kind == LOCK_SH   ? "LOCK_SH"
                        : kind == LOCK_EX ? "LOCK_EX"
                                          : "LOCK_UN"),
      .actor = {},
      .run = [=](Side& side) { return outcome_of(::flock(side.handle(slot).fd, kind | LOCK_NB)); },
      .handles = {slot}};
}

Step lock_range(Chance& chance, const Side& model) {
  const size_t slot = chance.file_handle(model, O_RDONLY);
  const bool ask_only = chance.one_in(3);
  struct flock range {};
  range.l_type = chance.pick<short>({F_RDLCK, F_WRLCK, F_UNLCK});
  range.l_whence = chance.pick<short>({SEEK_SET, SEEK_SET, SEEK_END});
  range.l_start = static_cast<off_t>(chance.below(6)) * 10 - (chance.one_in(20) ? 100 : 0);
  range.l_len = static_cast<off_t>(chance.below(4)) * 10;
  return {.text = call_text(ask_only ? "F_OFD_GETLK" : "F_OFD_SETLK", slot,
                            range.l_type == F_RDLCK   ? "F_RDLCK"
                            : range.l_type == F_WRLCK ? "F_WRLCK"
                                                      : "F_UNLCK",
                            range.l_whence == SEEK_END ? "SEEK_END" : "SEEK_SET", range.l_start,
                            range.l_len),
          .actor = {},
          .run =
              [=](Side& side) {
                struct flock lock = range;
                struct stat found {};
                // The size of a directory depends on the file system.
                if (::fstat(side.handle(slot).fd, &found) == 0 && S_ISDIR(found.st_mode)) {
                  lock.l_whence = SEEK_SET;
                }
                const int command = ask_only ? F_OFD_GETLK : F_OFD_SETLK;
                const Outcome outcome = outcome_of(::fcntl(side.handle(slot).fd, command, &lock));
                if (outcome.error != 0 || !ask_only) return outcome;
                return outcome_of(lock.l_type, lock.l_type == F_UNLCK
                                                   ? "free"
                                                   : std::to_string(lock.l_start) + "+" +
                                                         std::to_string(lock.l_len));
              },
          .handles = {slot}};
}

}  // namespace

void add_lock_calls(std::vector<CallKind>& kinds) {
  kinds.insert(kinds.end(), {{"lock", 8, lock_file}, {"lock", 10, lock_range}});
}

}  // namespace gridmount::differential
