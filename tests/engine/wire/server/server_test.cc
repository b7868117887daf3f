// Goal: the server treats all connections well: ordinary, slow, silent and half-closed ones, and
// too many of them.
// Method: raw sockets against a server whose commands do what the test needs.
#include "engine/wire/server/server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <limits>
#include <thread>
#include <vector>

#include "engine/wire/protocol/op_msg.h"
#include "tests/engine/wire/server/server_fixture.h"

namespace gridmount::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kMegabyte = size_t{1} << 20;

TEST_F(ServerTest, Request_OverEachSocket_IsAnswered) {
  options_.listen = {"127.0.0.1:0", "[::1]:0"};
  start();
  const auto addresses = server_->addresses();
  ASSERT_EQ(addresses.size(), 3u);
  EXPECT_TRUE(addresses[1].ends_with(":" + std::to_string(server_->port())));
  RawClient local = connect();
  EXPECT_EQ(local.ask(command("ping"))->ok(), 1);
  EXPECT_EQ(handler_.last_peer(), "gridmount.sock:" + std::to_string(::getpid()));
  EXPECT_EQ(handler_.last_peer_details().kind, Peer::Kind::kSocket);
  for (size_t i = 1; i < 3; ++i) {
    RawClient client = RawClient::to_address(addresses[i]);
    EXPECT_EQ(client.ask(command("ping"))->ok(), 1) << addresses[i];
    EXPECT_EQ(handler_.last_peer_details().kind, Peer::Kind::kTcp);
    EXPECT_TRUE(handler_.last_peer_details().is_loopback);
    EXPECT_FALSE(handler_.last_peer_details().is_tls);
  }
}

TEST_F(ServerTest, Port_WithoutTcp_IsNone) {
  options_.listen = {};
  start();
  EXPECT_EQ(server_->port(), 0);
}

TEST_F(ServerTest, Hello_AsOpQuery_IsAnsweredWithOpReply) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(op_query("admin.$cmd", command("isMaster"), 42)));
  const auto reply = client.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->opcode, 1);
  EXPECT_EQ(reply->flags, 8u);
  EXPECT_EQ(reply->response_to, 42);
  EXPECT_EQ(reply->ok(), 1);
}

TEST_F(ServerTest, Requests_SentTogether_AreAnsweredInOrder) {
  start();
  RawClient client = connect();
  Bytes all;
  for (int32_t id = 1; id <= 200; ++id) put(all, op_msg(command("ping"), 0, id));
  ASSERT_TRUE(client.send(all));
  for (int32_t id = 1; id <= 200; ++id) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->response_to, id);
  }
}

TEST_F(ServerTest, MoreToCome_IsDoneAndNotAnswered) {
  start();
  RawClient client = connect();
  Bytes all;
  for (int i = 0; i < 3; ++i) put(all, op_msg(command("insert"), kMoreToCome, i));
  put(all, op_msg(command("ping"), 0, 99));
  ASSERT_TRUE(client.send(all));
  EXPECT_EQ(client.receive()->response_to, 99);
  EXPECT_EQ(handler_.inserted, 3);
  EXPECT_TRUE(client.is_silent_for(50));
}

// A client that allows exhaust gets one batch after the other, each as the answer to the one
// before.
TEST_F(ServerTest, GetMore_ThatMayExhaust_IsAnsweredToItsEnd) {
  start();
  RawClient client = connect();
  handler_.batches_left = 1000;
  ASSERT_TRUE(client.send(op_msg(command("getMore"), kExhaustAllowed, 7)));
  int32_t answered = 7;
  for (int64_t left = 999; left >= 0; --left) {
    const std::optional<ReadReply> reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->document.view()["cursor"].as_document()["id"].as_int64(), left);
    EXPECT_EQ(reply->flags & kMoreToCome, left > 0 ? kMoreToCome : 0);
    EXPECT_EQ(reply->response_to, answered);
    answered = reply->request_id;
  }
  EXPECT_TRUE(client.ask(command("ping")));
  // A client that does not allow exhaust asks for each batch.
  handler_.batches_left = 2;
  const std::optional<ReadReply> one = client.ask(command("getMore"));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->flags & kMoreToCome, 0U);
  EXPECT_TRUE(client.is_silent_for(50));
}

TEST_F(ServerTest, GetMore_ThatExhausts_EndsWithItsClient) {
  start();
  handler_.batches_left = std::numeric_limits<int64_t>::max();
  {
    RawClient client = connect();
    ASSERT_TRUE(client.send(op_msg(command("getMore"), kExhaustAllowed)));
    ASSERT_TRUE(client.receive());
  }
  EXPECT_TRUE(comes_true([&] { return handler_.forgotten == 1; }));
  EXPECT_TRUE(is_served());
}

TEST_F(ServerTest, MoreToCome_MalformedOne_IsNotAnsweredEither) {
  start();
  RawClient client = connect();
  bson::Builder nameless;
  nameless.append("insert", int32_t{1});
  ASSERT_TRUE(client.send(op_msg(std::move(nameless).finish(), kMoreToCome)));
  EXPECT_EQ(client.ask(command("ping"))->ok(), 1);
}

TEST_F(ServerTest, UnacknowledgedRequests_OfAClientThatLeaves_AreAllDone) {
  start();
  RawClient client = connect();
  Bytes all = op_msg(command("sleep", 600), kMoreToCome);
  for (int i = 0; i < 20; ++i) put(all, op_msg(command("insert"), kMoreToCome));
  ASSERT_TRUE(client.send(all));
  client.close();
  EXPECT_TRUE(comes_true([&] { return handler_.inserted == 20; }));
}

TEST_F(ServerTest, Compression_IsAnsweredInKind) {
  start();
  RawClient client = connect();
  for (const Compressor compressor :
       {Compressor::kNoop, Compressor::kSnappy, Compressor::kZlib, Compressor::kZstd}) {
    const std::string text(100'000, 'a');
    ASSERT_TRUE(client.send(compressed(op_msg(command("echo", text)), compressor)));
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_TRUE(reply->was_compressed);
    EXPECT_EQ((*reply->document.find("echo")).as_string(), text);
  }
  EXPECT_FALSE(client.ask(command("ping"))->was_compressed);
}

TEST_F(ServerTest, LargeMessages_BothWays_Arrive) {
  start();
  RawClient client = connect_tcp();
  const std::string text(15 * kMegabyte, 'b');
  const auto reply = client.ask(command("echo", text));
  ASSERT_TRUE(reply);
  EXPECT_TRUE((*reply->document.find("echo")).as_string() == text);
}

TEST_F(ServerTest, MalformedDocument_IsAnsweredAndTheConnectionGoesOn) {
  start();
  RawClient client = connect();
  Bytes bytes = op_msg(command("ping"));
  bytes[25] = 0x77;  // not a BSON type
  ASSERT_TRUE(client.send(bytes));
  const auto reply = client.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code(), 22);
  EXPECT_EQ(client.ask(command("ping"))->ok(), 1);
}

TEST_F(ServerTest, MalformedMessage_EndsTheConnection) {
  start();
  Bytes too_short(16);
  too_short[0] = 15;
  Bytes too_long(16, 0xff);
  const Bytes inserts = message(2002, 1, Bytes(40));
  const Bytes unknown = message(4711, 1, Bytes(40));
  const Bytes bad_flags = op_msg(command("ping"), 1u << 3);
  for (const Bytes& bytes : {too_short, too_long, inserts, unknown, bad_flags}) {
    RawClient client = connect();
    ASSERT_TRUE(client.send(bytes));
    EXPECT_TRUE(client.is_closed_within(5000));
  }
  EXPECT_TRUE(is_served());
}

TEST_F(ServerTest, Http_IsToldWhereItIs) {
  start();
  RawClient client = connect_tcp();
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_TRUE(client.send({reinterpret_cast<const uint8_t*>(request.data()), request.size()}));
  const std::string answer = client.read_to_end();
  EXPECT_TRUE(answer.starts_with("HTTP/1.0 200 OK\r\n"));
  const size_t body = answer.find("\r\n\r\n") + 4;
  EXPECT_NE(answer.find("Content-Length: " + std::to_string(answer.size() - body)),
            std::string::npos)
      << answer.size() - body;
}

TEST_F(ServerTest, Connections_BeyondTheLimit_AreClosed_TheOwnersSocketStillLetsIn) {
  options_.limits.connections_max = 10;
  start();
  std::vector<RawClient> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(connect_tcp());
    ASSERT_EQ(clients.back().ask(command("ping"))->ok(), 1);
  }
  EXPECT_EQ(server_->connections_available(), 0);
  RawClient refused = connect_tcp();
  EXPECT_TRUE(refused.is_closed_within(5000));
  EXPECT_TRUE(is_served());
  clients.pop_back();
  EXPECT_TRUE(comes_true([&] { return connect_tcp().ask(command("ping")).has_value(); }));
}

TEST_F(ServerTest, IdleConnections_ThousandsOfThem_CostNoThreadsAndLittleMemory) {
  rlimit descriptors{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  descriptors.rlim_cur = descriptors.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &descriptors), 0);
  start();
  ASSERT_TRUE(is_served());
  const size_t threads = threads_now();
  const size_t memory = resident_bytes();
  constexpr size_t kCount = 2000;  // both ends are descriptors of this process
  std::vector<RawClient> clients;
  for (size_t i = 0; i < kCount; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back().ask(command("ping"))) << i;
  }
  EXPECT_TRUE(comes_true([&] { return threads_now() == threads; }));
  EXPECT_LT(memory_grown_since(memory), kCount * 16 * 1024 + 2 * kMegabyte);
  EXPECT_TRUE(is_served());
}

TEST_F(ServerTest, HalfMessage_EndsAfterTheTimeout_IdleDoesNot) {
  options_.limits.receive_timeout = milliseconds(400);
  start();
  const Bytes whole = op_msg(command("echo", std::string(50'000, 'x')));
  RawClient idle = connect();
  ASSERT_TRUE(idle.ask(command("ping")));
  for (const size_t size : {size_t{1}, size_t{15}, size_t{16}, size_t{40'000}}) {
    RawClient client = connect();
    ASSERT_TRUE(client.send(std::span(whole).first(size)));
    EXPECT_TRUE(client.is_closed_within(5000)) << size;
  }
  EXPECT_EQ(idle.ask(command("ping"))->ok(), 1);
}

TEST_F(ServerTest, OneByteNowAndThen_IsNoProgress) {
  options_.limits.receive_timeout = milliseconds(400);
  start();
  RawClient client = connect();
  const Bytes whole = op_msg(command("echo", std::string(50'000, 'x')));
  const auto begin = steady_clock::now();
  size_t sent = 0;
  while (sent < 500 && client.send(std::span(whole).subspan(sent, 1))) {
    ++sent;
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_LT(sent, 500u);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(4000));
}

TEST_F(ServerTest, SlowButSteadySender_IsServed) {
  options_.limits.receive_timeout = milliseconds(600);
  start();
  RawClient client = connect();
  const Bytes whole = op_msg(command("echo", std::string(60'000, 'x')));
  for (size_t at = 0; at < whole.size(); at += 6000) {
    ASSERT_TRUE(
        client.send(std::span(whole).subspan(at, std::min<size_t>(6000, whole.size() - at))));
    std::this_thread::sleep_for(milliseconds(150));
  }
  EXPECT_EQ(client.receive()->ok(), 1);
}

TEST_F(ServerTest, PeerThatTakesNoReply_IsEnded) {
  options_.limits.send_timeout = milliseconds(500);
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(op_msg(command("big", 15 * kMegabyte))));
  EXPECT_TRUE(comes_true([&] { return server_->connections() == 1; }));
  EXPECT_TRUE(comes_true([&] { return server_->connections() == 0; }));
  EXPECT_TRUE(is_served());
}

TEST_F(ServerTest, SenderThatNeverReads_IsNotReadFurther) {
  start();
  RawClient client = connect();
  const Bytes request = op_msg(command("big", 100'000));
  const auto deadline = steady_clock::now() + milliseconds(500);
  size_t sent = 0;
  while (steady_clock::now() < deadline) sent += client.send_now(request);
  // The client's socket is full. The server holds no more than one reply for the client.
  EXPECT_LT(sent, 2 * kMegabyte);
  EXPECT_LT(server_->requests(), 100u);
  EXPECT_TRUE(is_served());
}

TEST_F(ServerTest, HalfClosedClient_GetsItsReplyAndIsClosed) {
  start();
  RawClient client = connect();
  ASSERT_TRUE(client.send(op_msg(command("echo", "last words"))));
  client.end_sending();
  EXPECT_EQ(client.receive()->ok(), 1);
  EXPECT_TRUE(client.is_closed_within(5000));
  EXPECT_TRUE(comes_true([&] { return handler_.forgotten == 1; }));
}

TEST_F(ServerTest, ClientThatLeaves_WhileItsCommandRuns_IsGone) {
  start();
  for (const bool is_tcp : {false, true}) {
    RawClient client = is_tcp ? connect_tcp() : connect();
    ASSERT_TRUE(client.send(op_msg(command("gate"))));
    ASSERT_TRUE(comes_true([&] { return handler_.running == 1; }));
    client.close();
    EXPECT_TRUE(comes_true([&] { return handler_.found_gone == (is_tcp ? 2 : 1); }));
    EXPECT_TRUE(comes_true([&] { return handler_.forgotten == (is_tcp ? 2 : 1); }));
  }
}

TEST_F(ServerTest, ClientWithFurtherRequests_IsNotGone) {
  start();
  RawClient client = connect();
  Bytes both = op_msg(command("sleep", 700));
  put(both, op_msg(command("ping"), 0, 2));
  ASSERT_TRUE(client.send(both));
  client.end_sending();
  EXPECT_EQ(client.receive()->ok(), 1);
  EXPECT_EQ(client.receive()->response_to, 2);
}

TEST_F(ServerTest, Figures_CountWhatHappens) {
  start();
  EXPECT_EQ(handler_.stats_, server_.get());
  RawClient client = connect();
  const Bytes ping = op_msg(command("ping"));
  ASSERT_TRUE(client.send(ping));
  ASSERT_TRUE(client.receive());
  EXPECT_EQ(server_->connections(), 1);
  EXPECT_EQ(server_->connections_created(), 1);
  EXPECT_EQ(server_->requests(), 1u);
  EXPECT_EQ(server_->bytes_in(), ping.size());
  EXPECT_TRUE(comes_true([&] { return server_->bytes_out() > 21; }));
}

TEST_F(ServerTest, ManyBusyClients_AreAllAnswered) {
  start();
  constexpr int kClients = 100;
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<RawClient> clients;
      for (int i = 0; i < kClients / 4; ++i) clients.push_back(connect());
      for (int round = 0; round < 20; ++round) {
        for (RawClient& client : clients) ASSERT_TRUE(client.send(op_msg(command("ping"))));
        for (RawClient& client : clients) answered += client.receive().has_value() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, kClients * 20);
}

}  // namespace
}  // namespace gridmount::wire
