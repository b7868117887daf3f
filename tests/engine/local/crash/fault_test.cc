// Goal: whichever system call fails during work on documents, the result is a clean error. The
// store that is opened afterwards checks clean and has every acknowledged change.
//
// Method: fault_run.h, with one run for each write, sync, change of a file's size, mapping and
// allocation of a scripted workload that includes making the store. If an allocation fails, the
// process may end itself, in libbson or in a thread that has no caller to report to. Such an end
// counts as a kill.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>

#include "engine/bson/builder.h"
#include "engine/local/open_store.h"
#include "tests/engine/local/crash/crash_documents.h"
#include "tests/engine/local/crash/crash_folder.h"
#include "tests/engine/local/crash/crash_store.h"
#include "tests/engine/local/crash/fault_injector.h"
#include "tests/engine/local/crash/fault_run.h"
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

// D8: the next opening goes back to what was durable.
TEST(FaultTest, OneSyncFails_WhatWasDurableStays) {
  expect_no_harm(documents(FaultKind::kSync, EIO));
}

TEST(FaultTest, OneResizeFails_NoHarm) {
  expect_no_harm(documents(FaultKind::kResize, ENOSPC));
}

// On a full disk, only the pages that the last removal freed are free.
TEST(FaultTest, NoRoomAfterARemoval_WhatItFreedIsThereForTheNextWrites) {
  const std::filesystem::path folder = make_crash_folder();
  const std::filesystem::path data = folder / "store" / "data.mdb";
  OpenOptions options;
  options.create = true;
  options.checkpoint_interval = std::chrono::hours(1);
  const auto store = open(folder / "store", options);
  ASSERT_TRUE(store) << store.error().message();
  const auto collection = (*store)->database("test")->collection("c");
  const auto put = [&](int32_t id) -> Status {
    bson::Builder document;
    document.append("_id", id).append("x", std::string(100'000, 'x'));
    GM_ASSIGN(const auto transaction, (*store)->begin());
    GM_TRY(collection->insert(*transaction, std::move(document).finish()));
    return transaction->commit();
  };
  for (int32_t id = 0; id < 40; ++id) ASSERT_TRUE(put(id));
  ASSERT_TRUE((*store)->make_durable());
  {
    auto transaction = *(*store)->begin();
    ASSERT_TRUE(collection->remove(*transaction, bson::Document(), /*multi=*/true));
    ASSERT_TRUE(transaction->commit());
  }
  const uintmax_t before = std::filesystem::file_size(data);

  FaultInjector::instance().arm({FaultKind::kWrite, 1, false, ENOSPC}, folder.c_str());
  EXPECT_EQ(put(0).error().code(), ErrorCode::kOutOfDiskSpace);
  FaultInjector::instance().disarm();
  for (int32_t id = 0; id < 40; ++id) {
    const Status again = put(id);
    ASSERT_TRUE(again) << id << ": " << again.error().message();
  }
  EXPECT_LT(std::filesystem::file_size(data), before + (1U << 20));
  std::filesystem::remove_all(folder);
}

// D13: the opening must replay the log. In one half of the runs a single call of the opening fails.
//      In the other half, all calls from one on fail.
TEST(FaultTest, ReplayFails_TheNextOpeningFindsAllThatWasDurable) {
  const std::filesystem::path folder = make_crash_folder();
  const std::filesystem::path crashed = folder / "crashed";
  const auto insert = [](engine::Store& store, int32_t id) -> Status {
    bson::Builder document;
    document.append("_id", id).append("x", std::string(1000, 'x'));
    GM_ASSIGN(const auto transaction, store.begin());
    GM_TRY(store.database("test")->collection("c")->insert(*transaction,
                                                           std::move(document).finish()));
    return transaction->commit(engine::Durability::kDurable);
  };
  constexpr int32_t kDocuments = 5;
  {
    const auto store = open_crash_store(folder / "store", true, {});
    ASSERT_TRUE(store) << store.error().message();
    for (int32_t id = 0; id < kDocuments; ++id) ASSERT_TRUE(insert(**store, id));
    std::filesystem::copy(folder / "store", crashed);
  }
  TestOptions next_boot;
  next_boot.boot_id = "another boot";
  TestOptions last_boot;
  last_boot.boot_id = "a third boot";
  const std::filesystem::path opened = folder / "opened";
  const std::string opened_path = opened;
  uint64_t runs = 0;
  for (const FaultKind kind : {FaultKind::kWrite, FaultKind::kSync, FaultKind::kResize}) {
    for (const bool lasting : {false, true}) {
      for (uint64_t number = 1;; ++number) {
        std::filesystem::remove_all(opened);
        std::filesystem::copy(crashed, opened);
        FaultInjector& injector = FaultInjector::instance();
        injector.arm({kind, number, lasting, lasting ? ENOSPC : EIO}, opened_path.c_str());
        (void)open_crash_store(opened, false, next_boot);
        injector.disarm();
        if (!injector.fired()) break;
        ++runs;
        const auto store = open_crash_store(opened, false, last_boot);
        ASSERT_TRUE(store) << store.error().message();
        const auto snapshot = (*store)->snapshot();
        const auto count =
            (*store)->database("test")->collection("c")->count(**snapshot, bson::Document());
        EXPECT_EQ(count.value_or(-1), kDocuments) << number;
        const auto problems = structure_problems(**store);
        ASSERT_TRUE(problems);
        EXPECT_TRUE(problems->empty());
        EXPECT_TRUE(insert(**store, kDocuments));
      }
    }
  }
  EXPECT_GT(runs, 20U);
  std::filesystem::remove_all(folder);
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
