// Tries the images of one recording in a child process (crash_child.h). After a broken image,
// another child continues with the next image.
//
// An image has the contents that the disk may have after a power loss at a random point of the
// recording, or those that the kernel has after a kill of the process. A kill loses nothing that
// was written.
//
// GRIDMOUNT_CRASH_KEEP names a folder into which the first broken image is put.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/local/crash/crash_disk.h"

namespace gridmount::local::testing {

// The name of the store's folder in the recording and in each image.
inline constexpr const char* kCrashStore = "store";

struct CrashRunResult {
  int images = 0;
  int broken = 0;
  std::string first;  // what is wrong with the first broken image

  // Returns true if `wanted` images have been tried, or if `enough` is not 0 and `enough` images
  // are broken.
  bool is_done(int wanted, int enough) const {
    return images >= wanted || (enough != 0 && broken >= enough);
  }
};

struct CrashTrial {
  const CrashDisk& disk;  // at the cut
  size_t cut;             // the recording is cut just before this event
  bool killed;            // a kill instead of a power loss
  std::filesystem::path folder;
  std::mt19937_64& random;
};

// Examines the image in the trial's folder, which it may change. Returns what is wrong, or an empty
// string.
using CrashExaminer = std::function<std::string(const CrashTrial&)>;

struct CrashImages {
  int count = 0;
  uint64_t seed = 0;
  // The boot id that the stores see. If it is empty, they see the boot id of the running machine.
  std::string boot_id = {};
  uint64_t kills_one_of = 4;  // one in this many is after a kill; the others are after a power loss
  // If not empty, the recording is cut only at points where this file or folder (below the recorded
  // folder) has unsynced changes.
  std::string while_unsynced = {};
};

// Tries images of the recording below `folder`. While this function runs, no other thread of this
// process may be working.
void try_crash_images(const std::filesystem::path& folder, const CrashImages& images,
                      const CrashExaminer& examine, CrashRunResult& result);

}  // namespace gridmount::local::testing
