// gridstore serve: a store's documents over its socket and TCP, its end on a signal, and what it
// refuses. Method: the built program and raw messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

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

  // Once the server listens; not connected if it does not within some seconds.
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
};

TEST_F(GridstoreServe, Documents_OverTheSocket_AreKept) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const Outcome outcome = serve({"--create"}, [&](pid_t pid) {
      RawClient client = connect();
      const auto reply = client.ask(insert_one());
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->ok(), 1);
      // The second time the document is there already.
      EXPECT_EQ(reply->document.find("writeErrors").has_value(), signal == SIGINT);
      ::kill(pid, signal);
    });
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err,
                HasSubstr("listening on " + (store_path() / "gridmount.sock").string()));
  }
  EXPECT_EQ(gridstore_check().status, 0);
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
