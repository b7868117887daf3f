// Tries crash images of one kind of store. First, workloads are recorded. Then images of the
// contents that the disk may have at random points of the recordings are tried.
//
// An image (crash_trials.h) is opened, checked in full, compared with the states that the promises
// allow, written to, and compared and checked again. In some recordings, writers run during the
// syncs of a checkpoint or of the log, or stores are made and compacted.
//
// Some images first have a second life: the store is opened and used, and the recording of this
// second use is also cut at a random point, often during the opening. If the first life ended with
// a kill, the disk begins the second life with the contents that it had at that time, and without
// the changes that only the kernel had.
//
// Images are made in memory (/dev/shm) if there is room for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tests/engine/local/crash/crash_subject.h"
#include "tests/engine/local/crash/crash_trials.h"
#include "tests/sanitized.h"

namespace gridmount::local::testing {

struct CrashRun {
  std::function<std::unique_ptr<CrashSubject>()> make_subject;
  int images = 0;
  int broken_enough = 0;  // CrashRunResult::is_done()
  TestOptions recording = {};
  TestOptions opening = {};
  bool syncs_folders = true;  // false: behaves as if the program did not sync folders
  int second_lives_one_of = 6;
  uint64_t kills_one_of = 4;
  std::string while_unsynced = {};  // as in CrashImages
  // The length of a workload as a multiple of the usual length. Longer workloads have long
  // sequences of steps that are not durable.
  uint64_t length = 1;
  bool has_long_runs = false;
  // Called for each recording before its images are tried.
  std::function<void()> recorded = {};
};

// `seed` reproduces the workloads and the images, except for the timing of concurrent checkpoints
// and of the subject's own threads. Throws std::runtime_error if recordings cannot be cut because
// of `while_unsynced`.
CrashRunResult run_crash_images(const CrashRun& run, uint64_t seed);

// Returns this share of GRIDMOUNT_CRASH_IMAGES, the total number of images in all tests (by default
// 10,000, and fewer in sanitized builds).
int crash_image_count(double share);
// Returns GRIDMOUNT_CRASH_SEED or a new seed, and prints it.
uint64_t crash_seed();

// For tests that switch off a necessary mechanism of the store. kCanaryImages is the maximum number
// of images to try, and kCanaryBrokenMin is the number of broken images that must be found among
// them. A tenth of the images usually suffices.
inline constexpr int kCanaryImages = 2400;
inline constexpr int kCanaryBrokenMin = kSanitized ? 1 : 3;

}  // namespace gridmount::local::testing
