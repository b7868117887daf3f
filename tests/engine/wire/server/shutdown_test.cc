// Goal: when a server stops, running requests are answered, idle connections are closed, and
// nothing is left behind.
// Method: raw sockets in every state while stop() is called.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/engine/wire/server/server_fixture.h"

namespace gridmount::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST_F(ServerTest, Stop_AnswersWhatRuns_ClosesWhatIsIdle_RemovesTheFile) {
  std::thread([] {}).join();  // the first thread also starts a sanitizer's thread
  const size_t descriptors = open_descriptors();
  const size_t threads = threads_now();
  start();
  const std::string address = tcp_address();
  RawClient idle = connect();
  ASSERT_TRUE(idle.ask(command("ping")));
  RawClient silent = connect_tcp();
  RawClient half = connect();
  ASSERT_TRUE(half.send(Bytes(10)));
  RawClient busy = connect();
  Bytes two = op_msg(command("sleep", 500), 0, 1);
  put(two, op_msg(command("ping"), 0, 2));
  ASSERT_TRUE(busy.send(two));
  ASSERT_TRUE(comes_true([&] { return handler_.running == 1; }));
  std::thread stopper([&] { server_->stop(); });
  EXPECT_TRUE(comes_true([&] { return handler_.is_shut_down.load(); }));
  EXPECT_TRUE(idle.is_closed_within(400));
  EXPECT_TRUE(silent.is_closed_within(400));
  EXPECT_TRUE(half.is_closed_within(400));
  EXPECT_EQ(busy.receive()->response_to, 1);
  // The server does not start the client's further requests.
  EXPECT_FALSE(busy.receive());
  stopper.join();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "gridmount.sock"));
  EXPECT_FALSE(connect().is_connected());
  EXPECT_FALSE(RawClient::to_address(address).is_connected());
  EXPECT_EQ(handler_.stats_, nullptr);
  EXPECT_EQ(handler_.forgotten, 4);
  for (RawClient* client : {&idle, &silent, &half, &busy}) client->close();
  server_.reset();
  EXPECT_TRUE(comes_true([&] { return open_descriptors() == descriptors; }));
  EXPECT_TRUE(comes_true([&] { return threads_now() == threads; }));
}

TEST_F(ServerTest, Stop_IsBoundedByItsGrace) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(op_msg(command("gate"))));
  ASSERT_TRUE(comes_true([&] { return handler_.running == 1; }));
  RawClient takes_nothing = connect();
  ASSERT_TRUE(takes_nothing.send(op_msg(command("big", 10'000'000))));
  ASSERT_TRUE(comes_true([&] { return server_->requests() == 2; }));
  const auto begin = steady_clock::now();
  EXPECT_TRUE(server_->stop(milliseconds(300)));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(290));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(5000));
  // The command learned that its client is gone.
  EXPECT_EQ(handler_.found_gone, 1);
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(ServerTest, Stop_WhileACommandGoesOnWhateverItIsTold_Returns) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(op_msg(command("hold"))));
  ASSERT_TRUE(comes_true([&] { return handler_.running == 1; }));
  EXPECT_FALSE(server_->stop(milliseconds(50), milliseconds(50)));
  EXPECT_EQ(handler_.running, 1);
  EXPECT_FALSE(server_->stop());
  // The destructor waits for the command.
  std::thread opener([&] {
    std::this_thread::sleep_for(milliseconds(50));
    handler_.open_gate();
  });
  server_.reset();
  EXPECT_EQ(handler_.running, 0);
  EXPECT_EQ(handler_.stats_, nullptr);
  opener.join();
}

TEST_F(ServerTest, Stop_InAFloodOfConnectionsAndRequests_Ends) {
  start();
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (!is_over) {
        RawClient client = connect();
        for (int i = 0; i < 5 && client.is_connected(); ++i) {
          if (!client.ask(command("ping"))) break;
        }
      }
    });
  }
  std::this_thread::sleep_for(milliseconds(200));
  const auto begin = steady_clock::now();
  server_->stop();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(5000));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server_->connections(), 0);
  EXPECT_EQ(server_->connections_created(), handler_.forgotten);
}

TEST_F(ServerTest, StartAgain_InTheSamePlace_Works) {
  start();
  options_.listen = {tcp_address()};
  ASSERT_TRUE(is_served());
  for (int i = 0; i < 3; ++i) {
    RawClient client = connect_tcp();
    ASSERT_TRUE(client.ask(command("ping")));
    server_.reset();
    start();
    EXPECT_TRUE(is_served());
  }
}

}  // namespace
}  // namespace gridmount::wire
