// Goal: deferred requests are resumed by a change, by their timeout and by the end of the server,
// are dropped with their client, and occupy no thread.
// Method: a command that is deferred until a change.
#include "engine/wire/server/deferred_requests.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/engine/wire/server/server_fixture.h"

namespace gridmount::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class DeferredRequestsTest : public ServerTest {
 protected:
  bool has_changed(RawClient& client) {
    const auto reply = client.receive();
    if (!reply) ADD_FAILURE() << "no reply";
    return reply && (*reply->document.find("changed")).as_bool();
  }
};

TEST_F(DeferredRequestsTest, Change_ResumesAll_WithoutAThreadForEach) {
  start();
  std::vector<RawClient> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back().send(op_msg(command("wait", 60'000))));
  }
  ASSERT_TRUE(comes_true([&] { return handler_.deferral >= 100; }));
  // There are eight workers, and all of them are free.
  EXPECT_TRUE(is_served());
  const auto begin = steady_clock::now();
  handler_.change();
  for (RawClient& client : clients) EXPECT_TRUE(has_changed(client));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(5000));
}

TEST_F(DeferredRequestsTest, Time_ResumesInItsOrder) {
  start();
  RawClient late = connect();
  RawClient early = connect();
  const auto begin = steady_clock::now();
  ASSERT_TRUE(late.send(op_msg(command("wait", 600))));
  ASSERT_TRUE(comes_true([&] { return handler_.deferral == 1; }));
  ASSERT_TRUE(early.send(op_msg(command("wait", 150))));
  EXPECT_FALSE(has_changed(early));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(150));
  EXPECT_FALSE(has_changed(late));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(600));
  // The server does not poll: each request is deferred once, and perhaps once more if the timer is
  // a millisecond early.
  EXPECT_LE(handler_.deferral, 4);
}

TEST_F(DeferredRequestsTest, EveryChange_IsSeen_HoweverCloseToTheDeferral) {
  start();
  RawClient client = connect();
  for (int i = 0; i < 500; ++i) {
    const int before = handler_.deferral;
    ASSERT_TRUE(client.send(op_msg(command("wait", 20'000))));
    while (handler_.deferral == before) std::this_thread::yield();
    handler_.change();
    ASSERT_TRUE(has_changed(client)) << i;
  }
}

TEST_F(DeferredRequestsTest, ClientThatLeaves_IsDropped) {
  start();
  for (const bool is_tcp : {false, true}) {
    RawClient client = is_tcp ? connect_tcp() : connect();
    ASSERT_TRUE(client.send(op_msg(command("wait", 60'000))));
    ASSERT_TRUE(comes_true([&] { return handler_.deferral == (is_tcp ? 2 : 1); }));
    client.close();
    EXPECT_TRUE(comes_true([&] { return server_->connections() == 0; }));
    EXPECT_TRUE(comes_true([&] { return handler_.forgotten == (is_tcp ? 2 : 1); }));
  }
}

TEST_F(DeferredRequestsTest, EndOfTheServer_ResumesAll) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(op_msg(command("wait", 60'000))));
  ASSERT_TRUE(comes_true([&] { return handler_.deferral == 1; }));
  const auto begin = steady_clock::now();
  server_->stop();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(5000));
  EXPECT_FALSE(has_changed(client));
  EXPECT_TRUE(client.is_closed_within(1000));
  // The handler outlives the server, and may still notify it.
  server_.reset();
  handler_.change();
}

}  // namespace
}  // namespace gridmount::wire
