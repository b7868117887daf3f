// Goal: workers are shared fairly. TCP clients whose commands do not end leave workers to each
// other, to the local socket and to short commands.
// Method: the rules alone; then commands that wait until the test lets them continue.
#include "engine/wire/server/worker_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/engine/wire/server/server_fixture.h"

namespace gridmount::wire {
namespace {

using Kind = WorkerShares::Kind;

// The turns that one account holds, and the turns for which it waits.
class TestAccount {
 public:
  TestAccount(WorkerShares& shares, Kind kind, std::string account)
      : shares_(shares), kind_(kind), account_(std::move(account)) {}

  void ask(size_t times) {
    for (size_t i = 0; i < times; ++i) {
      turns_.push_back(std::make_unique<WorkerShares::Turn>());
      shares_.acquire(*turns_.back(), kind_, account_, [this] { ++granted_; });
    }
  }
  size_t held() const {
    return static_cast<size_t>(std::count_if(turns_.begin(), turns_.end(),
                                             [](const auto& turn) { return turn->is_held(); }));
  }
  size_t granted() const { return granted_; }
  void end_one() {
    const auto held = std::find_if(turns_.begin(), turns_.end(),
                                   [](const auto& turn) { return turn->is_held(); });
    ASSERT_NE(held, turns_.end());
    shares_.release(**held);
  }

 private:
  WorkerShares& shares_;
  const Kind kind_;
  const std::string account_;
  std::vector<std::unique_ptr<WorkerShares::Turn>> turns_;
  size_t granted_ = 0;
};

TEST(WorkerShares, AccountsOfTcp_LeaveWorkersToOthers) {
  WorkerShares shares(32);
  TestAccount one(shares, Kind::kTcp, "one");
  TestAccount other(shares, Kind::kTcp, "other");
  TestAccount socket(shares, Kind::kSocket, "");
  one.ask(100);
  EXPECT_EQ(one.held(), 16u);
  other.ask(100);
  EXPECT_EQ(other.held(), 8u);
  socket.ask(100);
  EXPECT_EQ(socket.held(), 4u);
}

TEST(WorkerShares, ThoseThatWait_GetTheirTurnsInRotation) {
  WorkerShares shares(8);
  TestAccount many(shares, Kind::kTcp, "many");
  TestAccount few(shares, Kind::kTcp, "few");
  TestAccount last(shares, Kind::kTcp, "last");
  many.ask(100);
  few.ask(2);
  ASSERT_EQ(many.held(), 4u);
  ASSERT_EQ(few.held(), 2u);
  few.ask(2);
  last.ask(1);
  many.end_one();
  EXPECT_EQ(many.granted(), 1u);
  many.end_one();
  EXPECT_EQ(few.granted(), 1u);
  many.end_one();
  EXPECT_EQ(last.granted(), 1u);
  many.end_one();
  EXPECT_EQ(many.granted(), 2u);
}

TEST(WorkerShares, OfTwoWorkers_EachKindGetsOne) {
  WorkerShares shares(2);
  TestAccount tcp(shares, Kind::kTcp, "one");
  tcp.ask(2);
  EXPECT_EQ(tcp.held(), 1u);
  tcp.end_one();
  EXPECT_EQ(tcp.held(), 1u);
  tcp.end_one();
  TestAccount socket(shares, Kind::kSocket, "");
  socket.ask(2);
  EXPECT_EQ(socket.held(), 1u);
}

TEST(WorkerShares, Stopped_GrantsAll) {
  WorkerShares shares(4);
  TestAccount one(shares, Kind::kTcp, "one");
  one.ask(10);
  EXPECT_EQ(one.held(), 2u);
  shares.stop();
  EXPECT_EQ(one.held(), 10u);
  one.ask(1);
  EXPECT_EQ(one.held(), 11u);
}

TEST_F(ServerTest, CommandsThatDoNotEnd_LeaveWorkersToTheSocketAndToBriefCommands) {
  start();
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(connect_tcp());
    ASSERT_TRUE(clients.back().send(op_msg(command("gate"))));
  }
  ASSERT_TRUE(comes_true([&] { return handler_.running == 6; }));
  RawClient brief = connect_tcp();
  EXPECT_TRUE(brief.ask(command("ping")));
  RawClient local = connect();
  const auto echoed = local.ask(command("echo", "of the socket"));
  ASSERT_TRUE(echoed);
  EXPECT_EQ(echoed->ok(), 1);
  for (int i = 0; i < 3; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back().send(op_msg(command("gate"))));
  }
  ASSERT_TRUE(comes_true([&] { return handler_.running == 7; }));
  EXPECT_TRUE(brief.ask(command("ping")));
  handler_.open_gate();
  for (RawClient& client : clients) EXPECT_EQ(client.receive()->ok(), 1);
  EXPECT_EQ(handler_.running, 0);
}

}  // namespace
}  // namespace gridmount::wire
