// Power failures under documents: collections, indexes, drops and renames are those of a commit, no
// older than the newest durable one, and the full check finds nothing.
//
// Method: crash_run.h, with transactions through the Store interface, some of them durable; images
// are opened by local::open().
#include "tests/engine/local/crash/crash_store.h"

#include <gtest/gtest.h>

#include "tests/engine/local/crash/crash_documents.h"
#include "tests/engine/local/crash/crash_run.h"

namespace gridmount::local::testing {
namespace {

CrashRun run_of_documents(int images) {
  CrashRun run;
  run.make_subject = make_documents;
  run.images = images;
  run.recording.boot_id = "first boot";
  return run;
}

TEST(CrashStoreTest, PowerLoss_AtAnyPoint_LeavesACommitNoOlderThanTheNewestDurable) {
  const CrashRunResult result =
      run_crash_images(run_of_documents(crash_image_count(0.35)), crash_seed());
  EXPECT_EQ(result.broken, 0) << result.first;
}

}  // namespace
}  // namespace gridmount::local::testing
