// Goal: data.mdb or data.mdb-lock may become unreadable while it is open: truncated by another
// process, or damaged anywhere. The process survives, the operation fails with an error, and
// nothing is written any more.
#include "engine/local/files/map_guard.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

constexpr int kDocuments = 400;

class MapGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gridmount-guard.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ASSERT_TRUE(open());
    auto transaction = store_->begin();
    ASSERT_TRUE(transaction);
    for (int32_t i = 0; i < kDocuments; ++i) ASSERT_TRUE(insert(**transaction, i));
    ASSERT_TRUE((*transaction)->commit(engine::Durability::kDurable));
  }
  void TearDown() override {
    store_.reset();
    fs::remove_all(folder_);
  }

  fs::path data() const { return folder_ / "store" / "data.mdb"; }
  fs::path lock() const { return folder_ / "store" / "data.mdb-lock"; }

  template <typename Outcome>
  static void expect_lock_lost(const Outcome& outcome) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), ErrorCode::kIoError) << outcome.error().message();
    EXPECT_THAT(outcome.error().message(), HasSubstr("data.mdb-lock was truncated"));
  }

  Status open() {
    OpenOptions options;
    options.create = true;
    GM_ASSIGN(store_, local::open(folder_ / "store", options));
    return {};
  }

  Status insert(engine::Transaction& transaction, int32_t id) {
    bson::Builder builder;
    builder.append("_id", id).append("bytes", std::string(10'000, 'x'));
    GM_TRY(store_->database("test")->collection("c")->insert(transaction,
                                                             std::move(builder).finish()));
    return {};
  }

  // Returns how many documents can be read, and verifies their contents. The other documents must
  // be reported.
  int readable() {
    const auto snapshot = store_->snapshot();
    if (!snapshot) return 0;
    int count = 0;
    for (int32_t id = 0; id < kDocuments; ++id) {
      bson::Builder builder;
      builder.append("_id", id);
      const bson::Document filter = std::move(builder).finish();
      const auto found = store_->database("test")->collection("c")->find_one(**snapshot, filter);
      if (!found) continue;
      EXPECT_TRUE(*found) << "document " << id << " is missing without an error";
      if (!*found) continue;
      EXPECT_EQ((**found)["bytes"].as_string(), std::string(10'000, 'x'));
      ++count;
    }
    return count;
  }

  fs::path folder_;
  std::unique_ptr<engine::Store> store_;
};

TEST_F(MapGuardTest, FileCutOffWhileOpen_IsAnError) {
  ASSERT_EQ(readable(), kDocuments);
  ASSERT_EQ(truncate(data().c_str(), static_cast<off_t>(fs::file_size(data()) / 2)), 0);
  const int left = readable();
  EXPECT_LT(left, kDocuments);
  const auto report = check_structure(*store_);
  EXPECT_TRUE(!report || !report->problems.empty());
  auto transaction = store_->begin();
  ASSERT_FALSE(transaction);
  EXPECT_EQ(transaction.error().code(), ErrorCode::kIoError);
  EXPECT_THAT(transaction.error().message(), HasSubstr("data.mdb cannot be read at byte "));
  EXPECT_FALSE(store_->make_durable());
  // The file must not have been extended with zeros.
  store_.reset();
  const Status opened = open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kStoreDamaged) << opened.error().message();
}

TEST_F(MapGuardTest, FileCutOffWithinATransaction_CommitsNothing) {
  auto transaction = store_->begin();
  ASSERT_TRUE(transaction);
  ASSERT_TRUE(insert(**transaction, kDocuments));
  ASSERT_EQ(truncate(data().c_str(), static_cast<off_t>(fs::file_size(data()) / 2)), 0);
  EXPECT_LT(readable(), kDocuments);
  const Status committed = (*transaction)->commit();
  ASSERT_FALSE(committed);
  // LMDB may have met the truncation first.
  EXPECT_THAT(committed.error().code(), AnyOf(ErrorCode::kIoError, ErrorCode::kStoreDamaged))
      << committed.error().message();
}

TEST_F(MapGuardTest, LockFileCutOffWhileOpen_IsAnErrorUntilReopened) {
  auto before = store_->snapshot();
  ASSERT_TRUE(before);
  ASSERT_EQ(truncate(lock().c_str(), 0), 0);
  expect_lock_lost(store_->snapshot());
  expect_lock_lost(store_->begin());
  expect_lock_lost(store_->make_durable());
  before->reset();
  store_.reset();
  ASSERT_TRUE(open());
  EXPECT_EQ(readable(), kDocuments);
}

TEST_F(MapGuardTest, LockFileCutOffWithinATransaction_CommitsNothing) {
  auto transaction = store_->begin();
  ASSERT_TRUE(transaction);
  ASSERT_TRUE(insert(**transaction, kDocuments));
  ASSERT_EQ(truncate(lock().c_str(), 0), 0);
  // The truncation may be noticed earlier, by a checkpoint or in this call.
  (void)insert(**transaction, kDocuments + 1);
  EXPECT_FALSE((*transaction)->commit(engine::Durability::kDurable));
  expect_lock_lost(store_->begin());
  transaction->reset();
  store_.reset();
  ASSERT_TRUE(open());
  EXPECT_EQ(readable(), kDocuments);
}

// Any thread may meet the truncation first, at any place.
TEST_F(MapGuardTest, LockFileCutOffUnderManyThreads_NobodyHangs) {
  std::vector<std::thread> threads;
  std::atomic<int> ended = 0;
  for (int32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int32_t id = kDocuments + i; id < 1'000'000; id += 4) {
        auto transaction = store_->begin(i % 2 == 0 ? engine::TransactionKind::kShort
                                                    : engine::TransactionKind::kMayBlock);
        if (!transaction || !insert(**transaction, id) || !(*transaction)->commit()) break;
        if (i == 3 && !store_->snapshot()) break;
      }
      ++ended;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_EQ(truncate(lock().c_str(), 0), 0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, 4);
  expect_lock_lost(store_->snapshot());
  store_.reset();
  ASSERT_TRUE(open());
  EXPECT_GE(readable(), kDocuments);
}

TEST_F(MapGuardTest, FaultsElsewhere_AreNotOurs) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // because of the store's threads
  const auto fault = [&] {
    const fs::path path = folder_ / "other";
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ::ftruncate(fd, 4096) != 0) _exit(1);
    auto* const bytes = static_cast<volatile char*>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    if (::ftruncate(fd, 0) != 0) _exit(1);
    _exit(bytes[0]);
  };
  // The process dies by the signal, or by the sanitizer that reports the signal.
  EXPECT_DEATH(fault(), "");
}

}  // namespace
}  // namespace gridmount::local
