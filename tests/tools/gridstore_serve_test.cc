// Goal: gridstore serve serves a store's documents over its socket and TCP, ends on a signal, and
// refuses invalid requests.
// Method: the built program and raw messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "engine/wire/protocol/op_msg.h"
#include "tests/engine/wire/server/raw_client.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::HasSubstr;
using wire::RawClient;

class GridstoreServe : public StoreTest {
 protected:
  Outcome serve(std::vector<std::string> arguments, std::function<void(pid_t)> meanwhile = {}) {
    arguments.insert(arguments.begin(), "serve");
    arguments.push_back(store_path().string());
    return run({GRIDSTORE, std::move(arguments), folder(), "", std::move(meanwhile)});
  }

  // Connects once the server listens. If it does not listen within some seconds, the result is not
  // connected.
  RawClient connect() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      RawClient client = RawClient::to_socket_file(store_path());
      if (client.is_connected() || std::chrono::steady_clock::now() > deadline) return client;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  static bson::Document insert_one() {
    bson::Builder builder;
    builder.append("insert", "things").open_array("documents").push_open_document();
    builder.append("_id", int32_t{1}).close().close().append("$db", "test");
    return std::move(builder).finish();
  }

  static bson::Document number(std::string_view name, int32_t value) {
    bson::Builder builder;
    builder.append(name, value);
    return std::move(builder).finish();
  }
};

TEST_F(GridstoreServe, Documents_OverTheSocket_AreKept) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const Outcome outcome = serve({"--create"}, [&](pid_t pid) {
      RawClient client = connect();
      const auto reply = client.ask(insert_one());
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->ok(), 1);
      // The second time the document already exists.
      EXPECT_EQ(reply->document.find("writeErrors").has_value(), signal == SIGINT);
      ::kill(pid, signal);
    });
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err,
                HasSubstr("listening on " + (store_path() / "gridmount.sock").string()));
  }
  EXPECT_EQ(gridstore_check().status, 0);
}

// Works like a driver of the year 2013, which does not use OP_MSG.
TEST_F(GridstoreServe, OldOpcodes_WriteReadAndKillCursors) {
  create_store();
  const Outcome outcome = serve({}, [&](pid_t pid) {
    RawClient client = connect();
    std::vector<bson::Document> documents;
    for (int32_t id = 0; id < 10; ++id) documents.push_back(number("_id", id));
    ASSERT_TRUE(client.send(wire::op_insert("test.things", documents)));
    ASSERT_TRUE(client.send(wire::op_update("test.things", number("_id", 1), number("a", 5))));
    ASSERT_TRUE(client.send(wire::op_delete("test.things", number("_id", 9))));
    ASSERT_TRUE(client.send(wire::op_query("test.$cmd", number("getLastError", 1))));
    EXPECT_EQ(client.receive()->document.find("n")->as_int32(), 1);

    ASSERT_TRUE(client.send(wire::op_query("test.things", bson::Document(), 2, 4)));
    const auto first = client.receive();
    ASSERT_TRUE(first);
    ASSERT_EQ(first->documents.size(), 4U);
    EXPECT_EQ(first->documents[1].find("a")->as_int32(), 5);
    ASSERT_NE(first->cursor, 0);
    ASSERT_TRUE(client.send(wire::op_get_more("test.things", 2, first->cursor)));
    const auto second = client.receive();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->starting_from, 4);
    ASSERT_EQ(second->documents.size(), 2U);
    EXPECT_EQ(second->cursor, first->cursor);
    ASSERT_TRUE(client.send(wire::op_kill_cursors({first->cursor})));
    ASSERT_TRUE(client.send(wire::op_get_more("test.things", 0, first->cursor)));
    const auto killed = client.receive();
    ASSERT_TRUE(killed);
    EXPECT_NE(killed->flags & 1, 0U);  // CursorNotFound
    ::kill(pid, SIGTERM);
  });
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(GridstoreServe, Hello_ThatAwaitsChanges_IsAnsweredAgainAndAgain) {
  create_store();
  const Outcome outcome = serve({}, [&](pid_t pid) {
    RawClient client = connect();
    bson::Builder hello;
    hello.append("hello", int32_t{1}).append("$db", "admin");
    const auto greeting = client.ask(std::move(hello).finish());
    ASSERT_TRUE(greeting);
    const auto version = greeting->document.find("topologyVersion");
    ASSERT_TRUE(version);
    bson::Builder awaiting;
    awaiting.append("hello", int32_t{1}).append("topologyVersion", *version);
    awaiting.append("maxAwaitTimeMS", int32_t{30}).append("$db", "admin");
    ASSERT_TRUE(client.send(wire::op_msg(std::move(awaiting).finish(), wire::kExhaustAllowed, 7)));
    int32_t answered = 7;
    for (int i = 0; i < 5; ++i) {
      const auto reply = client.receive();
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->response_to, answered);
      EXPECT_EQ(reply->flags & wire::kMoreToCome, wire::kMoreToCome);
      answered = reply->request_id;
    }
    // A command that waits for a day does not prevent the server from stopping either.
    bson::Builder patient;
    patient.append("hello", int32_t{1}).append("topologyVersion", *version);
    patient.append("maxAwaitTimeMS", int32_t{86'400'000}).append("$db", "admin");
    RawClient other = connect();
    ASSERT_TRUE(other.send(wire::op_msg(std::move(patient).finish())));
    EXPECT_TRUE(other.is_silent_for(50));
    ::kill(pid, SIGTERM);
  });
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(GridstoreServe, Hello_OfAnOldDriver_IsAnswered) {
  create_store();
  const Outcome outcome = serve({"--listen", "127.0.0.1:0", "--no-auth"}, [&](pid_t pid) {
    RawClient client = connect();
    ASSERT_TRUE(client.send(wire::op_query("admin.$cmd", wire::command("isMaster"))));
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->opcode, 1);
    EXPECT_EQ(reply->document.find("maxWireVersion")->as_int32(), 21);
    ::kill(pid, SIGTERM);
  });
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("listening on 127.0.0.1:"));
}

TEST_F(GridstoreServe, WhatItCannotDo_IsRefused) {
  EXPECT_EQ(serve({}).status, 10);  // there is no store
  create_store();
  EXPECT_THAT(serve({"--listen", "0.0.0.0:0", "--no-auth"}).err,
              HasSubstr("without authentication"));
  EXPECT_THAT(serve({"--listen", "nonsense", "--no-auth"}).err, HasSubstr("has no port"));
  EXPECT_THAT(serve({"--tls-certificate-key-file", "missing.pem"}).err, HasSubstr("missing.pem"));
  EXPECT_FALSE(std::filesystem::exists(store_path() / "gridmount.sock"));
}

}  // namespace
}  // namespace gridmount::tests
