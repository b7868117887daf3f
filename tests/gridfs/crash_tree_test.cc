// Goal: a tree of files survives power failures. Names, modes and contents are those after some
// change, no older than the last synced one. Every file is complete, whatever was half written on
// the disk.
//
// Method: crash_run.h, with changes as the mount makes them (create, write, truncate, rename,
// unlink, mkdir, rmdir, chmod; close commits, fsync makes durable) and uploads as drivers make
// them. The full check is that of `gridstore check`, engine and GridFS. To prove that the test can
// fail, it also runs with the chunks committed after the files document, and must then find broken
// images.
#include "tests/gridfs/crash_tree.h"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/engine/local/crash/crash_run.h"

namespace gridmount::gridfs {
namespace {

using local::testing::CrashRun;
using local::testing::CrashRunResult;

CrashRun run_of_trees(int images, const TreeOptions& options = {}) {
  CrashRun run;
  run.make_subject = [=] { return make_tree(options); };
  run.images = images;
  run.recording.boot_id = "first boot";
  return run;
}

TEST(CrashTreeTest, PowerLoss_AtAnyPoint_LeavesTheTreeAfterSomeChangeNoOlderThanTheLastSync) {
  const CrashRunResult result = run_crash_images(
      run_of_trees(local::testing::crash_image_count(0.25)), local::testing::crash_seed());
  EXPECT_EQ(result.broken, 0) << result.first;
}

TEST(CrashTreeTest, Canary_WithChunksAfterTheFilesDocument_ImagesAreBroken) {
  auto run = run_of_trees(local::testing::kCanaryImages, {.late_chunks = true});
  run.broken_enough = 1;
  const CrashRunResult result = run_crash_images(run, local::testing::crash_seed());
  // Only images from the moment between the two commits of one write are broken.
  EXPECT_GE(result.broken, 1);
  std::cout << result.first << std::endl;
}

}  // namespace
}  // namespace gridmount::gridfs
