// Goal: whichever system call fails during work on a tree of files, the result is a clean error.
// The store that is opened afterwards checks clean and has every acknowledged change.
//
// Method: fault_run.h, with one run for each write, sync, growth, mapping and allocation of a
// scripted workload that includes making the store. If an allocation fails, the process may end
// itself, in libbson or in a thread that has no caller to report to. That counts as a kill.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/engine/local/crash/fault_run.h"
#include "tests/gridfs/crash_tree.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

using local::testing::FaultKind;
using local::testing::FaultRun;
using local::testing::FaultRunResult;

FaultRun tree(FaultKind kind, int code) {
  FaultRun run;
  run.make_subject = [] { return make_tree({.removes_all = false, .md5 = false}); };
  run.kind = kind;
  run.code = code;
  run.steps = kSanitized ? 12 : 40;
  return run;
}

void expect_no_harm(const FaultRun& run) {
  const FaultRunResult result = run_faults(run);
  EXPECT_GT(result.runs, 0u);
  EXPECT_EQ(result.broken, 0u) << result.first;
}

TEST(TreeFaultTest, OneWriteFails_NoHarm) {
  expect_no_harm(tree(FaultKind::kWrite, EIO));
}

TEST(TreeFaultTest, EachWriteFromOneOnFails_NoHarm) {
  FaultRun run = tree(FaultKind::kWrite, ENOSPC);
  run.lasting = true;
  expect_no_harm(run);
}

TEST(TreeFaultTest, OneSyncFails_WhatWasDurableStays) {
  expect_no_harm(tree(FaultKind::kSync, EIO));
}

TEST(TreeFaultTest, OneResizeFails_NoHarm) {
  expect_no_harm(tree(FaultKind::kResize, ENOSPC));
}

#ifdef GM_TEST_MEMORY_FAULTS
TEST(TreeFaultTest, OneMappingFails_NoHarm) {
  expect_no_harm(tree(FaultKind::kMap, ENOMEM));
}

TEST(TreeFaultTest, OneAllocationFails_NoHarm) {
  FaultRun run = tree(FaultKind::kAllocation, ENOMEM);
  run.may_abort = true;
  run.parts_may_show = true;
  run.steps = 8;
  expect_no_harm(run);
}
#endif

}  // namespace
}  // namespace gridmount::gridfs
