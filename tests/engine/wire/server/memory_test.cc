// Goal: the limit of the bytes of messages holds: the rules of the budget, and a server's memory
// while clients announce large messages, send halves of them and read no replies.
// Method: the budget alone; then raw sockets, and the process's resident memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include <thread>
#include <vector>

#include "engine/wire/server/memory_budget.h"
#include "tests/engine/wire/server/server_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kMebibyte = size_t{1} << 20;

TEST(MemoryBudget, FullOne_MakesWait_InTurn) {
  MemoryBudget budget(100'000);
  MemoryBudget::Reservation first;
  MemoryBudget::Reservation overdraws;
  MemoryBudget::Reservation waits;
  MemoryBudget::Reservation small;
  bool was_granted = false;
  EXPECT_TRUE(budget.acquire(first, 90'000, [] {}));
  // One request may exceed the budget, so that at least one can always finish.
  EXPECT_FALSE(budget.acquire(overdraws, 50'000, [&] { was_granted = true; }));
  EXPECT_TRUE(was_granted);
  EXPECT_FALSE(budget.is_waited_for());
  bool is_next_granted = false;
  EXPECT_FALSE(budget.acquire(waits, 50'000, [&] { is_next_granted = true; }));
  EXPECT_TRUE(budget.is_waited_for());
  EXPECT_TRUE(budget.acquire(overdraws, 50'000, [] {}));
  EXPECT_TRUE(budget.acquire(small, 1000, [] { FAIL(); }));
  budget.release(first);
  EXPECT_FALSE(is_next_granted);
  budget.release(overdraws);
  EXPECT_TRUE(is_next_granted);
  budget.release(waits);
  budget.release(small);
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudget, NothingAsked_WaitsOnlyWhileItIsUsedUp) {
  MemoryBudget budget(1000);
  MemoryBudget::Reservation reply;
  MemoryBudget::Reservation overdraws;
  MemoryBudget::Reservation waits;
  EXPECT_TRUE(budget.acquire(reply, 0, [] {}));
  budget.charge(reply, 5000);
  EXPECT_FALSE(budget.acquire(overdraws, 0, [] {}));
  bool was_granted = false;
  EXPECT_FALSE(budget.acquire(waits, 0, [&] { was_granted = true; }));
  EXPECT_FALSE(was_granted);
  budget.release(reply);
  EXPECT_TRUE(was_granted);
}

TEST(MemoryBudget, WaiterThatGivesUp_LetsOthersPass) {
  MemoryBudget budget(100'000);
  MemoryBudget::Reservation first;
  MemoryBudget::Reservation overdraws;
  MemoryBudget::Reservation gives_up;
  MemoryBudget::Reservation waits;
  EXPECT_TRUE(budget.acquire(first, 60'000, [] {}));
  EXPECT_FALSE(budget.acquire(overdraws, 60'000, [] {}));
  budget.release(first);
  bool was_granted = false;
  std::thread patient(
      [&] { EXPECT_FALSE(budget.acquire_within(gives_up, 50'000, milliseconds(3000))); });
  while (!budget.is_waited_for()) std::this_thread::yield();
  EXPECT_FALSE(budget.acquire(waits, 30'000, [&] { was_granted = true; }));
  patient.join();
  EXPECT_TRUE(was_granted);
  EXPECT_FALSE(budget.is_waited_for());
}

TEST(MemoryBudget, Stopped_GrantsAll) {
  MemoryBudget budget(1000);
  MemoryBudget::Reservation reservations[4];
  int granted = 0;
  for (auto& reservation : reservations) {
    if (budget.acquire(reservation, 50'000, [&] { ++granted; })) ++granted;
  }
  EXPECT_EQ(granted, 1);
  budget.stop();
  EXPECT_EQ(granted, 4);
}

TEST(MemoryBudget, Share_IsAPartOfWhatIsFree) {
  MemoryBudget budget(8 * kMebibyte);
  MemoryBudget::Reservation first;
  MemoryBudget::Reservation second;
  EXPECT_EQ(budget.acquire_share(first, 16 * kMebibyte), 2 * kMebibyte);
  EXPECT_EQ(budget.acquire_share(second, kMebibyte), kMebibyte);
  budget.settle(first, 100);
  EXPECT_EQ(budget.used(), kMebibyte + 100);
  budget.charge(first, 20 * kMebibyte);
  MemoryBudget::Reservation little;
  EXPECT_EQ(budget.acquire_share(little, 16 * kMebibyte), MemoryBudget::kAlwaysBytes);
}

TEST(MemoryBudget, WaitingThread_GetsItOrGivesUp) {
  MemoryBudget budget(kMebibyte);
  MemoryBudget::Reservation first;
  MemoryBudget::Reservation overdraws;
  MemoryBudget::Reservation waits;
  ASSERT_TRUE(budget.acquire(first, kMebibyte, [] {}));
  // The first of the waiting requests may exceed the budget.
  EXPECT_TRUE(budget.acquire_within(overdraws, kMebibyte, milliseconds(10'000)));
  EXPECT_FALSE(budget.acquire_within(waits, kMebibyte, milliseconds(1)));
  EXPECT_FALSE(budget.is_waited_for());
  std::thread releaser([&] {
    while (!budget.is_waited_for()) std::this_thread::yield();
    budget.release(overdraws);
  });
  EXPECT_TRUE(budget.acquire_within(waits, kMebibyte, milliseconds(10'000)));
  releaser.join();
  budget.release(first);
  budget.release(waits);
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_TRUE(budget.was_high());
  EXPECT_FALSE(budget.was_high());
}

TEST(MemoryBudget, WasHigh_SaysSoOnceAfterItHasFallen_AndAsLongAsItIs) {
  MemoryBudget budget(8 * kMebibyte);
  MemoryBudget::Reservation reply;
  budget.charge(reply, 2 * kMebibyte);
  EXPECT_FALSE(budget.was_high());
  budget.charge(reply, 1);
  EXPECT_TRUE(budget.was_high());
  EXPECT_TRUE(budget.was_high());
  budget.release(reply);
  EXPECT_TRUE(budget.was_high());
  EXPECT_FALSE(budget.was_high());
}

class MemoryTest : public ServerTest {
 protected:
  MemoryTest() {
    // The programs set this threshold, too. Otherwise malloc learns from the first large message to
    // keep such blocks.
    mallopt(M_MMAP_THRESHOLD, 8 * kMebibyte);
    options_.limits.request_bytes_max = 8 * kMebibyte;
    options_.limits.reply_bytes_max = 8 * kMebibyte;
    options_.limits.pressed_timeout = milliseconds(500);
  }
};

TEST_F(MemoryTest, HeadersThatClaimMuch_TakeNothing) {
  start();
  ASSERT_TRUE(is_served());
  const size_t before = resident_bytes();
  std::vector<RawClient> clients;
  Bytes header = message(2013, 1, Bytes(8));
  header[0] = 0;
  header[1] = 0x60;
  header[2] = 0xdc;
  header[3] = 2;  // 47,996,928
  for (int i = 0; i < 300; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back().send(header));
  }
  EXPECT_TRUE(comes_true([&] { return server_->bytes_in() >= 300 * header.size(); }));
  EXPECT_LT(memory_grown_since(before), 300 * 20'000 + 4 * kMebibyte);
  RawClient large = connect();
  EXPECT_EQ(large.ask(command("echo", std::string(10 * kMebibyte, 'x')))->ok(), 1);
}

TEST_F(MemoryTest, HalvesThatFillIt_AreEnded_WhenOthersNeedIt) {
  start();
  const Bytes whole = op_msg(command("echo", std::string(4 * kMebibyte, 'x')));
  std::vector<RawClient> stalled;
  for (int i = 0; i < 6; ++i) {
    stalled.push_back(connect());
    // The server may already have stopped reading.
    size_t sent = 0;
    const auto deadline = steady_clock::now() + milliseconds(300);
    while (sent < 3 * kMebibyte && steady_clock::now() < deadline) {
      sent += stalled.back().send_now(std::span(whole).subspan(sent, 3 * kMebibyte - sent));
    }
  }
  const auto begin = steady_clock::now();
  RawClient client = connect();
  EXPECT_TRUE(client.ask(command("ping")));
  const auto reply = client.ask(command("echo", std::string(4 * kMebibyte, 'y')));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->ok(), 1);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(10'000));
}

TEST_F(MemoryTest, RepliesNobodyTakes_StayWithinIt_AndAreEnded) {
  // Each client waits until the client before it has been disconnected. The reader's turn comes
  // after all of them.
  options_.limits.pressed_timeout = milliseconds(50);
  start();
  ASSERT_TRUE(is_served());
  const size_t before = resident_bytes();
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back().send(op_msg(command("big", 8 * kMebibyte))));
  }
  const auto begin = steady_clock::now();
  EXPECT_TRUE(is_served());
  EXPECT_LT(steady_clock::now() - begin, milliseconds(kSanitized ? 10'000 : 2000));
  RawClient reader = connect();
  EXPECT_TRUE(reader.ask(command("big", kMebibyte)));
  // One reply may exceed the budget. Each reply exists as text, in a Builder and, with spare
  // capacity, in its vector.
  EXPECT_LT(memory_grown_since(before), 8 * kMebibyte + 2 * 4 * 8 * kMebibyte);
  EXPECT_TRUE(comes_true([&] { return server_->connections() <= 12; }));
}

TEST_F(MemoryTest, ManyLargeMessages_AllArrive) {
  start();
  constexpr int kMessagesEach = random_rounds(4);
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      RawClient client = connect();
      for (int i = 0; i < kMessagesEach; ++i) {
        const auto reply = client.ask(command("echo", std::string(5 * kMebibyte, 'x')));
        if (reply && reply->ok() == 1) ++answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 8 * kMessagesEach);
}

TEST_F(MemoryTest, CompressedBombs_TakeNoMoreThanTheirTurn) {
  if (kThreadSanitized) GTEST_SKIP() << "measures memory, which the other builds do";
  start();
  ASSERT_TRUE(is_served());
  const size_t before = resident_bytes();
  const Bytes bomb =
      compressed(op_msg(command("echo", std::string(15 * kMebibyte, 'x'))), Compressor::kZstd);
  ASSERT_LT(bomb.size(), 20'000u);
  std::vector<RawClient> clients;
  for (int i = 0; i < 30; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back().send(bomb));
  }
  size_t most = 0;
  for (RawClient& client : clients) {
    most = std::max(most, memory_grown_since(before));
    EXPECT_TRUE(client.receive());
  }
  EXPECT_LT(most, 300 * kMebibyte);
}

}  // namespace
}  // namespace gridmount::wire
