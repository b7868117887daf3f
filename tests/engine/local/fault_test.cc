// Whichever call into the system fails while documents are worked on, it ends in a clean error, and
// the store that is opened afterwards checks clean and has every acknowledged change.
//
// Method: fault_run.h, one run for each write, sync, growth, mapping and allocation of a scripted
// workload, the making of the store included. Where an allocation fails, the process may end itself
// (libbson's way, and that of a thread without anyone to tell): that is a kill like any other.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/engine/local/crash_documents.h"
#include "tests/engine/local/fault_run.h"
#include "tests/sanitized.h"

namespace gridmount::local::testing {
namespace {

FaultRun documents(FaultKind kind, int code) {
  FaultRun run;
  run.make_subject = make_documents;
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

TEST(FaultTest, OneWriteFails_NoHarm) {
  expect_no_harm(documents(FaultKind::kWrite, EIO));
}

TEST(FaultTest, EachWriteFromOneOnFails_NoHarm) {
  FaultRun run = documents(FaultKind::kWrite, ENOSPC);
  run.lasting = true;
  expect_no_harm(run);
}

TEST(FaultTest, OneSyncFails_WhatWasDurableStays) {
  expect_no_harm(documents(FaultKind::kSync, EIO));
}

TEST(FaultTest, OneResizeFails_NoHarm) {
  expect_no_harm(documents(FaultKind::kResize, ENOSPC));
}

#ifdef GM_TEST_MEMORY_FAULTS
TEST(FaultTest, OneMappingFails_NoHarm) {
  expect_no_harm(documents(FaultKind::kMap, ENOMEM));
}

TEST(FaultTest, OneAllocationFails_NoHarm) {
  FaultRun run = documents(FaultKind::kAllocation, ENOMEM);
  run.may_abort = true;
  run.steps = 4;
  expect_no_harm(run);
}
#endif

}  // namespace
}  // namespace gridmount::local::testing
