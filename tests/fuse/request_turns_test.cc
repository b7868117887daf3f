// Goal: every message is read once and without a long wait, whatever the threads do with it.
// Method: threads as libfuse has them, on a socket that keeps messages apart, as /dev/fuse does.

#include "fuse/kernel/request_turns.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace gridmount::fuse {
namespace {

using std::chrono::milliseconds;

struct Message {
  uint32_t number = 0;
  uint32_t sender = 1;
  bool is_quick = false;
};

RequestTurns::Kind kind_of(std::span<const char> bytes) {
  Message message;
  std::memcpy(&message, bytes.data(), sizeof message);
  return {message.is_quick, message.sender};
}

class RequestTurnsTest : public testing::Test {
 protected:
  RequestTurnsTest() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets_.data()), 0); }
  ~RequestTurnsTest() override {
    end();
    close(sockets_[1]);
  }

  // Begins threads that pass each message to `handle`.
  void serve(int threads, std::function<void(const Message&)> handle) {
    handle_ = std::move(handle);
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (true) {
          Message message;
          if (turns_.read(sockets_[1], &message, sizeof message) != sizeof message) return;
          handle_(message);
        }
      });
    }
  }
  void send(const Message& message) {
    ASSERT_EQ(write(sockets_[0], &message, sizeof message), ssize_t{sizeof message});
  }
  // Ends the connection, so that every thread reads an end of file, and waits for the threads.
  void end() {
    if (sockets_[0] < 0) return;
    close(sockets_[0]);
    sockets_[0] = -1;
    for (std::thread& thread : threads_) thread.join();
  }

  RequestTurns turns_{kind_of};
  std::array<int, 2> sockets_{-1, -1};
  std::vector<std::thread> threads_;
  std::function<void(const Message&)> handle_;
};

// Waits until is_true() returns true, for at least a minute. Returns false if it does not.
bool wait_until(const std::function<bool()>& is_true) {
  for (int i = 0; i < 60'000; ++i) {
    if (is_true()) return true;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

TEST_F(RequestTurnsTest, EachMessageIsHandledOnce) {
  constexpr uint32_t kMessages = 4000;
  std::vector<std::atomic<int>> handled(kMessages);
  std::atomic<uint32_t> done{0};
  serve(5, [&](const Message& message) {
    if (message.number % 500 == 0) std::this_thread::sleep_for(milliseconds(3));
    ++handled[message.number];
    ++done;
  });
  for (uint32_t number = 0; number < kMessages; ++number) {
    // One sender that waits for each reply, then several that do not, then both, with pauses.
    const bool waits = number < kMessages / 3 || (number > kMessages / 2 && number % 3 == 0);
    send({number, waits ? 1 : number % 4 + 1, number % 7 == 0});
    if (waits) {
      ASSERT_TRUE(wait_until([&] { return handled[number] == 1; })) << number;
    }
    if (number % 1000 == 999) std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(wait_until([&] { return done == kMessages; }));
  end();
  for (uint32_t number = 0; number < kMessages; ++number) EXPECT_EQ(handled[number], 1) << number;
}

// A daemon's thread waits in this way if it notifies the kernel, and the kernel first needs the
// reply to another request.
TEST_F(RequestTurnsTest, AThreadThatWaitsForTheNextMessage_HoldsUpNothing) {
  constexpr uint32_t kRounds = 300;
  std::atomic<uint32_t> read{0};
  std::atomic<uint32_t> released{0};
  std::atomic<uint32_t> ended{0};
  serve(3, [&](const Message& message) {
    ++read;
    if (message.number % 2 == 0) {
      EXPECT_TRUE(wait_until([&] { return released > message.number; })) << message.number;
      ++ended;
    } else {
      released = message.number;
    }
  });
  for (uint32_t round = 0; round < kRounds; ++round) {
    // After a pause the standby sleeps without a limit.
    if (round % 10 == 0) std::this_thread::sleep_for(RequestTurns::kBusy * 3);
    send({2 * round, 1, round % 3 == 0});
    ASSERT_TRUE(wait_until([&] { return read == 2 * round + 1; }));
    send({2 * round + 1, 1, false});
    ASSERT_TRUE(wait_until([&] { return ended == round + 1; })) << round;
  }
}

// A burst frees the turn again and again, so that a thread that is not the standby gets it.
TEST_F(RequestTurnsTest, AfterABurst_SomebodyStillWatches) {
  constexpr uint32_t kRounds = 300;
  constexpr uint32_t kBlocked = 3;  // of four threads
  std::atomic<uint32_t> read{0};
  std::atomic<uint32_t> released{0};
  std::atomic<uint32_t> ended{0};
  serve(4, [&](const Message& message) {
    ++read;
    if (message.number % (kBlocked + 1) == kBlocked) {
      released = message.number;
    } else {
      EXPECT_TRUE(wait_until([&] { return released > message.number; })) << message.number;
      ++ended;
    }
  });
  uint32_t number = 0;
  for (uint32_t round = 0; round < kRounds; ++round) {
    if (round % 10 == 0) std::this_thread::sleep_for(RequestTurns::kBusy * 3);
    for (uint32_t i = 0; i < kBlocked; ++i) send({number++, 1, false});
    ASSERT_TRUE(wait_until([&] { return read == number; }));
    send({number++, 1, false});
    ASSERT_TRUE(wait_until([&] { return ended == kBlocked * (round + 1); })) << round;
  }
}

TEST_F(RequestTurnsTest, AllThreadsGetTheEndOfTheConnection) {
  serve(8, [](const Message&) {});
  for (uint32_t number = 0; number < 100; ++number) send({number, number % 3, false});
  end();
  SUCCEED() << "end() waits for the threads";
}

void* read_for_ever(void* arguments) {
  const auto& [turns, connection] = *static_cast<std::pair<RequestTurns*, int>*>(arguments);
  Message message;
  while (turns->read(connection, &message, sizeof message) > 0) {
  }
  return nullptr;
}

// libfuse ends a session in this way.
TEST_F(RequestTurnsTest, ThreadsCanBeCancelledWhereverTheyWait) {
  std::pair<RequestTurns*, int> arguments{&turns_, sockets_[1]};
  std::array<pthread_t, 4> threads{};
  for (pthread_t& thread : threads) {
    ASSERT_EQ(pthread_create(&thread, nullptr, read_for_ever, &arguments), 0);
  }
  for (uint32_t number = 0; number < 50; ++number) send({number, 1, false});
  std::this_thread::sleep_for(RequestTurns::kBusy * 5);
  for (const pthread_t thread : threads) {
    EXPECT_EQ(pthread_cancel(thread), 0);
    EXPECT_EQ(pthread_join(thread, nullptr), 0);
  }
}

}  // namespace
}  // namespace gridmount::fuse
