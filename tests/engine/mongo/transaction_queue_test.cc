#include "engine/mongo/transaction_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace gridmount::mongo {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{60'000};

TEST(TransactionQueue, Places_AreTakenOneAfterTheOther) {
  TransactionQueue queue;
  std::atomic<int> inside = 0;
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const auto place = QueuePlace::wait_for(queue, kLong);
        EXPECT_TRUE(place);
        EXPECT_EQ(++inside, 1);
        --inside;
        ++taken;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 1600);
}

TEST(TransactionQueue, WhoGivesUp_HoldsUpNobody) {
  TransactionQueue queue;
  auto first = QueuePlace::wait_for(queue, kLong);
  ASSERT_TRUE(first);
  EXPECT_FALSE(QueuePlace::wait_for(queue, milliseconds(20)));
  std::thread next([&] { EXPECT_TRUE(QueuePlace::wait_for(queue, kLong)); });
  EXPECT_FALSE(QueuePlace::wait_for(queue, milliseconds(20)));
  first.reset();
  next.join();
  EXPECT_TRUE(QueuePlace::wait_for(queue, milliseconds(20)));
}

TEST(TransactionQueue, SharedTurns_AreTakenTogether_AndNotBesideOthers) {
  using Turn = TransactionQueue::Turn;
  TransactionQueue queue;
  auto one = QueuePlace::wait_for(queue, kLong, Turn::kShared);
  auto other = QueuePlace::wait_for(queue, kLong, Turn::kShared);
  ASSERT_TRUE(one && other);
  EXPECT_FALSE(QueuePlace::wait_for(queue, milliseconds(20), Turn::kAlone));
  one.reset();
  EXPECT_FALSE(QueuePlace::wait_for(queue, milliseconds(20), Turn::kAlone));
  other.reset();
  const auto alone = QueuePlace::wait_for(queue, kLong, Turn::kAlone);
  ASSERT_TRUE(alone);
  EXPECT_FALSE(QueuePlace::wait_for(queue, milliseconds(20), Turn::kShared));
}

TEST(TransactionQueue, WhoWaitsForATurnAlone_IsNotOvertaken) {
  using Turn = TransactionQueue::Turn;
  TransactionQueue queue;
  auto first = QueuePlace::wait_for(queue, kLong, Turn::kShared);
  ASSERT_TRUE(first);
  std::atomic<bool> was_alone = false;
  std::thread alone([&] {
    const auto place = QueuePlace::wait_for(queue, kLong, Turn::kAlone);
    EXPECT_TRUE(place);
    was_alone = true;
  });
  // Shared turns are given until the other thread waits.
  while (QueuePlace::wait_for(queue, milliseconds(1), Turn::kShared)) std::this_thread::yield();
  EXPECT_FALSE(was_alone);
  first.reset();
  EXPECT_TRUE(QueuePlace::wait_for(queue, kLong, Turn::kShared));
  EXPECT_TRUE(was_alone);
  alone.join();
}

}  // namespace
}  // namespace gridmount::mongo
