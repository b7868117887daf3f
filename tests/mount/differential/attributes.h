// Compares the results of stat(2) for the same object on both sides.
//
// These differences are allowed, and no others:
// - st_dev, st_ino, st_blocks, st_blksize: they depend on the file system. (Other checks verify
//   that links to one file share an ino, and that a rename keeps it.)
// - the size of directories: it depends on the file system.
// - the link count of directories, if one side has 1: ext4 counts subdirectories, btrfs does not,
//   and the mount counts those of directories that were made since it was mounted.
// - atime, except just after it was set: ext4 updates it at some reads (relatime).
// - ctime, because no call sets it. But it must change on both sides or on neither.
// - times that are "now": the call on one side is made after the call on the other, so their times
//   may differ by some seconds. Times that tests set are never that close (Chance::distant_time),
//   so they are compared exactly.
// - times of pipes: the kernel's FUSE does not change them on a write.
// - whether a time has changed, if it was set less than two ticks of the kernel's clock ago: within
//   one tick it may be the same.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "tests/mount/differential/step.h"

namespace gridmount::differential {

// The attributes of one object, or why there are none.
struct Sight {
  std::string subject;  // for the report: a path or handle, and how it was examined
  int error = 0;
  struct stat attributes {};
};

// Reads, as root, the attributes of everything that the step concerns, in the same order each time.
std::vector<Sight> look_around(const Step& step, const Side& side);

struct BeforeAndAfter {
  std::vector<Sight> before;
  std::vector<Sight> after;
};

// Returns the first difference, or an empty string. `moment` is when the step began. If
// `times_are_settled` is true, the attributes before the step are used too: a time must change on
// both sides or on neither.
std::string difference(const BeforeAndAfter& mount, const BeforeAndAfter& plain, timespec moment,
                       bool times_are_settled);

// Compares the attributes of one object on both sides, as they are now. Returns the differences
// that are not allowed, or an empty string.
std::string difference(const struct stat& mount, const struct stat& plain);

// Returns true if the time may be the current time of some call, and false if a test must have set
// it.
bool is_now(timespec time);

std::string text(const struct stat& attributes);

}  // namespace gridmount::differential
