// Goal: free pages are returned to the file system while the store is open.

#include "engine/local/storage/free_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <fstream>
#include <optional>
#include <string>

#include "engine/local/files/map_guard.h"
#include "tests/engine/local/storage/environment_fixture.h"

namespace gridmount::local {
namespace {

constexpr int kValues = 100;
constexpr size_t kValueBytes = 200'000;
constexpr uint64_t kSlackBytes = 64 * 1024;
constexpr uint64_t kAllBytes = kValues * kValueBytes;

class FreePagesTest : public testing::EnvironmentFixture {
 protected:
  FreePagesTest() : EnvironmentFixture("free-pages-test", engine::TransactionKind::kMayBlock) {
    EXPECT_TRUE(try_open(store()));
    // The catalog of a real store is never empty.
    EXPECT_TRUE(write([&](Trees& trees) { return trees.put(environment_->catalog(), "n", "1"); }));
  }

  static std::string key(int i) { return "key" + std::to_string(i); }
  static std::string value(int i) {
    std::string bytes(kValueBytes, static_cast<char>('a' + i % 26));
    return bytes.replace(0, 4, std::to_string(1000 + i));
  }

  void fill() {
    for (int i = 0; i < kValues; ++i) ASSERT_TRUE(put(key(i), value(i)));
  }
  // Removes all but every tenth entry.
  void remove_most() {
    ASSERT_TRUE(write([&](Trees& trees) -> Status {
      for (int i = 0; i < kValues; ++i) {
        if (i % 10 != 0) GM_TRY(trees.remove(environment_->tree(0), key(i)));
      }
      return {};
    }));
  }
  void expect_the_rest() {
    for (int i = 0; i < kValues; i += 10) EXPECT_EQ(get(key(i)), value(i)) << i;
  }

  uint64_t allocated_bytes() const {
    struct stat status {};
    EXPECT_EQ(::stat((store() / "data.mdb").c_str(), &status), 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
  }
  uint64_t return_free_pages() {
    EXPECT_TRUE(environment_->reclaim());
    const Result<uint64_t> bytes = environment_->return_free_pages({});
    EXPECT_TRUE(bytes) << bytes.error().message();
    return bytes.value_or(0);
  }
};

TEST_F(FreePagesTest, GiveBack_AfterRemovals_TakesLessOfTheDisk) {
  fill();
  remove_most();
  const uint64_t before = allocated_bytes();
  const uint64_t size = std::filesystem::file_size(store() / "data.mdb");
  const uint64_t freed = return_free_pages();
  EXPECT_GE(freed, kAllBytes * 8 / 10);
  // The slack is for a commit that changes nothing, which comes first.
  EXPECT_LE(allocated_bytes(), before - freed + kSlackBytes);
  EXPECT_GE(std::filesystem::file_size(store() / "data.mdb"), size);
  expect_the_rest();
  EXPECT_EQ(return_free_pages(), 0U);
  ASSERT_TRUE(try_open(store()));
  expect_the_rest();
}

// Otherwise a salvage would find nothing to save, and a compaction would trust any list of pages.
TEST_F(FreePagesTest, NoGuardIsLeft_NothingSurveysThePages) {
  fill();
  environment_.reset();
  const std::filesystem::path other = folder_ / "other";
  std::ofstream(other) << "a mapped file";
  const int fd = ::open(other.c_str(), O_RDONLY | O_CLOEXEC);
  void* const mapping = ::mmap(nullptr, 1, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  {
    std::deque<MapGuard> all;
    for (size_t i = 0; i < MapGuard::kGuardsMax; ++i) {
      all.emplace_back(other, MapGuard::Contents::kPages);
    }
    ASSERT_TRUE(try_open(store()));
    for (int i = 0; i < kValues; ++i) EXPECT_EQ(get(key(i)), value(i)) << i;
    const Result<PageReport> report = environment_->survey_pages();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code(), ErrorCode::kIllegalOperation);
    EXPECT_FALSE(environment_->return_free_pages({}));
    environment_.reset();
  }
  ASSERT_TRUE(try_open(store()));
  EXPECT_TRUE(environment_->survey_pages());
  ::munmap(mapping, 1);
  ::close(fd);
}

TEST_F(FreePagesTest, GiveBack_ThenWrite_UsesThePagesAgain) {
  fill();
  const uint64_t size = std::filesystem::file_size(store() / "data.mdb");
  for (int round = 0; round < 3; ++round) {
    remove_most();
    EXPECT_GE(return_free_pages(), kAllBytes / 2) << round;
    fill();
    for (int i = 0; i < kValues; ++i) EXPECT_EQ(get(key(i)), value(i)) << i;
  }
  EXPECT_LT(std::filesystem::file_size(store() / "data.mdb"), size * 3 / 2);
  EXPECT_TRUE(environment_->survey_pages()->problems.empty());
}

TEST_F(FreePagesTest, GiveBack_WhatASnapshotReads_StaysUntilItEnds) {
  fill();
  Result<ReadTransaction> snapshot = environment_->begin_read();
  ASSERT_TRUE(snapshot);
  remove_most();
  EXPECT_LT(return_free_pages(), kAllBytes / 10);
  const Trees trees(snapshot->lmdb(), handles_, false);
  for (int i = 0; i < kValues; ++i) {
    EXPECT_EQ(trees.get(environment_->tree(0), key(i))->value_or(""), value(i)) << i;
  }
  snapshot = ReadTransaction();
  EXPECT_GE(return_free_pages(), kAllBytes * 8 / 10);
  expect_the_rest();
}

TEST_F(FreePagesTest, GiveBack_Killed_TheNewestCheckpointAndTheLogAreWhole) {
  in_killed_process([&] {
    if (!try_open(store())) return;
    fill();
    remove_most();
    (void)environment_->reclaim();
    (void)environment_->return_free_pages({});
    (void)put("after", "1");
    (void)environment_->make_durable();
  });
  // Simulates a power loss.
  TestOptions other_boot;
  other_boot.boot_id = "another";
  ASSERT_TRUE(try_open(store(), other_boot));
  EXPECT_EQ(get("after"), "1");
  expect_the_rest();
}

TEST_F(FreePagesTest, GiveBack_MoreThanAtOnce_GivesAll) {
  constexpr int kMany = 500;  // 100 MB, of which at most 64 MiB are returned at one time
  for (int i = 0; i < kMany; ++i) ASSERT_TRUE(put(key(i), value(i)));
  ASSERT_TRUE(write([&](Trees& trees) -> Status {
    for (int i = 0; i < kMany; ++i) GM_TRY(trees.remove(environment_->tree(0), key(i)));
    return {};
  }));
  EXPECT_GE(return_free_pages(), kMany * kValueBytes * 9 / 10);
}

TEST_F(FreePagesTest, Stats_WithHoles_CountWhatTheDiskHas) {
  fill();
  remove_most();
  const Result<engine::StoreStats> before = environment_->stats();
  const uint64_t freed = return_free_pages();
  const Result<engine::StoreStats> after = environment_->stats();
  ASSERT_TRUE(before && after);
  EXPECT_LE(after->file_bytes + static_cast<int64_t>(freed),
            before->file_bytes + static_cast<int64_t>(kSlackBytes));
  EXPECT_GE(after->file_bytes, after->used_bytes);
}

TEST_F(FreePagesTest, GiveBack_ReadOnlyOrTooLate_IsRefused) {
  fill();
  const Result<uint64_t> late =
      environment_->return_free_pages(engine::Deadline(engine::Deadline::Time::min()));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::kMaxTimeMsExpired);
  options_.read_only = true;
  options_.create = false;
  ASSERT_TRUE(try_open(store()));
  const Result<uint64_t> refused = environment_->return_free_pages({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kStoreReadOnly);
}

}  // namespace
}  // namespace gridmount::local
