// Crash images of mounts. Users make system calls on a mount through the kernel. Images of what the
// disk may hold of the store at random points are then tried (crash_trials.h).
//
// An image is opened, checked in full, compared with the states that model.h allows, written to,
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
  // Of what is looked for on purpose: the mount's, and calls of the users that are said to have
  // been made.
  BrokenPromises broken = {};
  std::set<CallKind> left_out = {};
};

// `seed` gives the same calls again; when the kernel hands over what was written, and the daemon
// commits it, is for them to say. The first image's message has what is needed to see what is
// wrong.
local::testing::CrashRunResult run_crash_mounts(const CrashMountRun& run, uint64_t seed);

}  // namespace gridmount::fuse::testing
