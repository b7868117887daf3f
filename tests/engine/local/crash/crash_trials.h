// Tries the images of one recording in a child process (crash_child.h). After a broken image
// another child continues with the next one.
//
// An image is what the disk may hold after a power loss at a random point of the recording, or
// after a kill of the process, when nothing written is lost.
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

// The store's folder, in what is recorded and in each image.
inline constexpr const char* kCrashStore = "store";

struct CrashRunResult {
  int images = 0;
  int broken = 0;
  std::string first;  // what is wrong with the first of those

  // So many are tried, or `enough` of them, if it is not 0, are broken.
  bool is_done(int wanted, int enough) const {
    return images >= wanted || (enough != 0 && broken >= enough);
  }
};

struct CrashTrial {
  const CrashDisk& disk;  // at the cut
  size_t cut;             // the event of the recording just before which it was
  bool killed;            // and no power loss
  std::filesystem::path folder;
  std::mt19937_64& random;
};

// What is wrong with the image in the trial's folder, which is the examiner's to change; empty if
// nothing is.
using CrashExaminer = std::function<std::string(const CrashTrial&)>;

struct CrashImages {
  int count = 0;
  uint64_t seed = 0;
  // What their stores take the machine's boot for; the running one if it is empty.
  std::string boot_id = {};
  uint64_t kills_one_of = 4;  // the others are those of power losses
  // Unless it is empty: only at points where this file or folder, below the recorded one, has
  // something that is not synced.
  std::string while_unsynced = {};
};

// Tries images of what the recorder has, made below `folder`. No other thread may be at work in
// this process.
void try_crash_images(const std::filesystem::path& folder, const CrashImages& images,
                      const CrashExaminer& examine, CrashRunResult& result);

}  // namespace gridmount::local::testing
