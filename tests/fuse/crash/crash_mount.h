// Tries crash images of mounts. Users make system calls on a mount through the kernel. Crash images
// of random moments then have what the disk may hold of the store at that moment (crash_trials.h).
//
// Each image is opened, checked in full, compared with the states that model.h allows, written to,
// read and checked again. With several users, their states must also belong to one moment, because
// commits are sequential.
#pragma once

#include <cstdint>
#include <set>

#include "tests/engine/local/crash/crash_trials.h"
#include "tests/fuse/crash/broken_store.h"
#include "tests/fuse/crash/call.h"

namespace gridmount::fuse::testing {

struct CrashMountRun {
  int images = 0;
  int broken_enough = 0;  // CrashRunResult::is_done()
  // Deliberate faults: promises that the mount breaks, and calls that users only claim to have
  // made.
  BrokenPromises broken = {};
  std::set<CallKind> left_out = {};
};

// `seed` reproduces the calls. The kernel decides when it writes back, and the daemon when it
// commits. So `seed` alone may not reproduce a broken image, and the message about the first one
// has all details.
local::testing::CrashRunResult run_crash_mounts(const CrashMountRun& run, uint64_t seed);

}  // namespace gridmount::fuse::testing
