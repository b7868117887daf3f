// Goal: a store with a size limit refuses writes that would make it larger, and allows removals.
// Stats report the limit as the size of the disk.
#include "engine/local/storage/size_limit.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/local/storage/environment_fixture.h"

namespace gridmount::local {
namespace {

constexpr uint64_t kLimit = uint64_t{24} << 20;
constexpr size_t kValueBytes = size_t{1} << 20;
// The bytes that removals may add beyond the limit before the freed pages can be reused.
constexpr uint64_t kSlackBytes = uint64_t{256} << 10;

class SizeLimitTest : public testing::EnvironmentFixture,
                      public ::testing::WithParamInterface<engine::TransactionKind> {
 protected:
  SizeLimitTest() : EnvironmentFixture("gridmount-size-limit", GetParam()) {
    options_.size_limit = kLimit;
  }

  void open() { ASSERT_TRUE(try_open(store())); }

  Status put_value(int number) {
    return put("key" + std::to_string(number), std::string(kValueBytes, 'x'));
  }
  // Inserts values until one is refused. Returns their number.
  int fill() {
    int count = 0;
    while (true) {
      const Status written = put_value(count);
      if (!written) {
        EXPECT_EQ(written.error().code(), ErrorCode::kOutOfDiskSpace) << written.error().message();
        EXPECT_THAT(written.error().message(), ::testing::HasSubstr("size limit"));
        return count;
      }
      ++count;
    }
  }
  Status remove(int number) {
    GM_ASSIGN(WriteTransaction transaction, environment_->begin_write(GetParam()));
    Trees trees(transaction.lmdb(), handles_, true);
    GM_TRY(trees.remove(environment_->tree(0), "key" + std::to_string(number)));
    transaction.log(trees.take_changes());
    trees.end();
    transaction.net_shrink();
    return transaction.commit();
  }
  engine::StoreStats stats() {
    const auto stats = environment_->stats();
    EXPECT_TRUE(stats);
    return stats.value_or(engine::StoreStats());
  }
};

TEST_P(SizeLimitTest, WhatWouldMakeTheStoreLarger_IsRefused) {
  open();
  EXPECT_EQ(stats().capacity_bytes, kLimit);
  const int count = fill();
  EXPECT_GE(count, static_cast<int>(kLimit / kValueBytes) - 3);
  EXPECT_LE(stats().file_bytes, static_cast<int64_t>(kLimit));
  EXPECT_LE(stats().available_bytes, static_cast<int64_t>(2 * kValueBytes));
  EXPECT_FALSE(put("large", std::string(4 * kLimit, 'x')));
  EXPECT_LE(std::filesystem::file_size(store() / "data.mdb"), kLimit);
  // The old values are still there, and values that fit are accepted.
  for (int i = 0; i < count; ++i) EXPECT_EQ(get("key" + std::to_string(i)).size(), kValueBytes);
  EXPECT_TRUE(put("small", "x"));
  EXPECT_EQ(get("small"), "x");
}

TEST_P(SizeLimitTest, AtTheLimitEverythingCanBeRemoved_AndItsRoomIsUsedAgain) {
  open();
  int count = fill();
  while (put("filler" + std::to_string(count), std::string(3000, 'x'))) ++count;
  const int values = static_cast<int>(kLimit / kValueBytes) - 3;
  for (int i = 0; i < values; ++i) ASSERT_TRUE(remove(i)) << i;
  EXPECT_LE(std::filesystem::file_size(store() / "data.mdb"), kLimit + kSlackBytes);
  EXPECT_GE(stats().available_bytes, static_cast<int64_t>((values - 1) * kValueBytes));
  for (int i = 0; i < values - 2; ++i) {
    const Status written = put_value(i);
    ASSERT_TRUE(written) << i << ": " << written.error().message();
  }
  EXPECT_LE(std::filesystem::file_size(store() / "data.mdb"), kLimit + kSlackBytes);
}

// A long list of free pages takes a while to count, and the store uses a count again for fifty
// times as long. The first count is a new one. A later count before a removal may be from before
// the put.
TEST_P(SizeLimitTest, WhatIsRemoved_IsAvailableAtOnce) {
  open();
  ASSERT_TRUE(put_value(0));
  {
    const auto reader = environment_->begin_read();
    ASSERT_TRUE(reader);
    for (int i = 0; i < 600; ++i) ASSERT_TRUE(put("key", std::to_string(i)));
  }
  const int64_t with_value = stats().available_bytes;
  int late = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(remove(0));
    if (stats().available_bytes < with_value + static_cast<int64_t>(kValueBytes / 2)) ++late;
    ASSERT_TRUE(put_value(0));
  }
  EXPECT_EQ(late, 0);
}

TEST_P(SizeLimitTest, AStoreThatIsLargerAlready_IsReadAndTakesThingsOut) {
  options_.size_limit = 0;
  open();
  constexpr int kCount = 2 * static_cast<int>(kLimit / kValueBytes);
  for (int i = 0; i < kCount; ++i) ASSERT_TRUE(put_value(i));
  options_.size_limit = kLimit;
  open();
  EXPECT_EQ(get("key1").size(), kValueBytes);
  EXPECT_LE(stats().available_bytes, static_cast<int64_t>(kValueBytes));
  EXPECT_FALSE(put("large", std::string(2 * kValueBytes, 'x')));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(remove(i));
  // The file does not grow further, and its free pages are used.
  EXPECT_TRUE(put_value(0));
}

TEST_P(SizeLimitTest, WritersAtOnce_AreRefusedOneByOne) {
  open();
  std::vector<std::thread> writers;
  std::atomic<int> written = 0;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; put_value(1000 * w + i); ++i) ++written;
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_GE(written, static_cast<int>(kLimit / kValueBytes) - 6);
  EXPECT_LE(stats().file_bytes, static_cast<int64_t>(kLimit));
}

INSTANTIATE_TEST_SUITE_P(All, SizeLimitTest,
                         ::testing::Values(engine::TransactionKind::kMayBlock,
                                           engine::TransactionKind::kShort));

}  // namespace
}  // namespace gridmount::local
