// The results of stat(2) for the same object on both sides, and which of them must be equal.
//
// These differences are allowed, and no others:
// - st_dev, st_ino, st_blocks, st_blksize: they depend on the file system. (Other checks verify
//   that links to one file share an ino, and that a rename keeps it.)
// - the size of directories: it depends on the file system.
// - the link count of directories, if one side has 1: ext4 counts subdirectories, btrfs does not,
//   and the mount does for directories made since it was mounted.
// - atime, except just after it was set: ext4 updates it at some reads (relatime).
// - times that are "now": those of calls made one after the other differ by up to some seconds.
//   Times that tests set are never that close (Chance::distant_time), so they are compared exactly.
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

// Reads the attributes of everything the step concerns, in the same order each time, as root.
std::vector<Sight> look_around(const Step& step, const Side& side);

struct BeforeAndAfter {
  std::vector<Sight> before;
  std::vector<Sight> after;
};

// Returns the differences, or an empty string. `moment` is when the step began.
std::string difference(const BeforeAndAfter& mount, const BeforeAndAfter& plain, timespec moment,
                       bool times_are_settled);

// Compares two attributes that must be equal now, as far as they must. Returns an empty string if
// they are.
std::string difference(const struct stat& mount, const struct stat& plain);

// Whether the time may be that of an action of the test, rather than one that the test set.
bool is_now(timespec time);

std::string text(const struct stat& attributes);

}  // namespace gridmount::differential
