// Goal: documents survive a power failure. Collections, indexes, drops and renames are those of one
// commit, no older than the newest durable one, and the full check finds nothing.
//
// Method: crash_run.h, with transactions through the Store interface, some of them durable. Images
// are opened by local::open().
#include "tests/engine/local/crash/crash_store.h"

#include <gtest/gtest.h>

#include <stdexcept>

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
      run_crash_images(run_of_documents(crash_image_count(0.3)), crash_seed());
  EXPECT_EQ(result.broken, 0) << result.first;
}

// The next owner finds unsynced data of the killed owner in the kernel's memory, and must sync the
// data.
void expect_next_owner_to_sync(const std::string& what) {
  CrashRun run = run_of_documents(crash_image_count(0.04));
  run.kills_one_of = 1;
  run.second_lives_one_of = 1;
  run.while_unsynced = what;
  const CrashRunResult result = run_crash_images(run, crash_seed());
  EXPECT_EQ(result.broken, 0) << result.first;
}

TEST(CrashStoreTest, PowerLoss_AfterAKillWithinACheckpoint_LeavesACommitNoOlderThanTheOneBefore) {
  expect_next_owner_to_sync(std::string(kCrashStore) + "/checkpoint");
}

TEST(CrashStoreTest, PowerLoss_AfterAKillBeforeItsFilesHadNames_LeavesThem) {
  expect_next_owner_to_sync(kCrashStore);
}

TEST(CrashStoreTest, FileThatIsNeverUnsynced_IsAnError) {
  CrashRun run = run_of_documents(1);
  run.while_unsynced = std::string(kCrashStore) + "/nothing";
  EXPECT_THROW(run_crash_images(run, crash_seed()), std::runtime_error);
}

}  // namespace
}  // namespace gridmount::local::testing
