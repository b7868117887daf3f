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

}  // namespace
}  // namespace gridmount::mongo
