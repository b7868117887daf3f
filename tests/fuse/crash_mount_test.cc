// Goal: a mount keeps its promises after power failures and kills. What fsync, fdatasync, O_SYNC
// and O_DSYNC writes, msync and an unmount made durable survives a power loss. What close and calls
// about names and attributes committed survives a kill. Everything else is as it was after some
// call, as SEMANTICS.md promises.
//
// Method: crash/crash_mount.h. Users make random calls on a real mount whose process records what
// happens to the store's files. crash/model.h defines what an image may hold. To prove that the
// test can fail, it also runs with a promise broken on purpose, and must then find broken images.
//
// GRIDMOUNT_CRASH_IMAGES, GRIDMOUNT_CRASH_SEED, GRIDMOUNT_CRASH_KEEP: as in the other crash tests.
#include "tests/fuse/crash/crash_mount.h"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/engine/local/crash/crash_run.h"

namespace gridmount::fuse::testing {
namespace {

using local::testing::crash_image_count;
using local::testing::crash_seed;
using local::testing::CrashRunResult;
using local::testing::kCanaryBrokenMin;
using local::testing::kCanaryImages;

void expect_broken(CrashMountRun run) {
  run.images = kCanaryImages;
  run.broken_enough = kCanaryBrokenMin;
  const CrashRunResult result = run_crash_mounts(run, crash_seed());
  EXPECT_GE(result.broken, kCanaryBrokenMin);
  std::cout << result.first << std::endl;
}

TEST(CrashMountTest, PowerLossOrKill_AtAnyPoint_LeavesWhatTheCallsHavePromised) {
  const CrashRunResult result = run_crash_mounts({.images = crash_image_count(0.25)}, crash_seed());
  EXPECT_EQ(result.broken, 0) << result.first;
}

// Use this for faults that break few images.
void expect_any_broken(CrashMountRun run) {
  run.images = kCanaryImages;
  run.broken_enough = 1;
  const CrashRunResult result = run_crash_mounts(run, crash_seed());
  EXPECT_GE(result.broken, 1);
  std::cout << result.first << std::endl;
}

TEST(CrashMountTest, Canary_SyncsThatMakeNothingDurable_ImagesAreBroken) {
  expect_broken({.broken = {.makes_nothing_durable = true}});
}

TEST(CrashMountTest, Canary_SyncsThatCommitNothing_ImagesAreBroken) {
  expect_broken({.left_out = {CallKind::kSync, CallKind::kSyncData}});
}

TEST(CrashMountTest, Canary_MappingsThatAreNotSynced_ImagesAreBroken) {
  expect_any_broken({.left_out = {CallKind::kSyncMap}});
}

TEST(CrashMountTest, Canary_CloseThatCommitsNothing_ImagesAreBroken) {
  expect_broken({.left_out = {CallKind::kClose}});
}

TEST(CrashMountTest, Canary_ChunksAfterTheFilesDocument_ImagesAreBroken) {
  expect_any_broken({.broken = {.late_chunks = true}});
}

}  // namespace
}  // namespace gridmount::fuse::testing
