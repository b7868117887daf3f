// A fixture with a replica set that belongs to the test program. Tests can make its commands fail.
//
// Not thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "engine/bson/json.h"
#include "engine/mongo/connection.h"
#include "tests/must.h"
#include "tests/peer/mongod_process.h"

namespace gridmount::mongo {

class ServerWithFailPoints : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    peer::require_mongod();
    server_ = must(peer::MongodProcess::start(peer::MongodKind::kReplicaSet,
                                              {"--setParameter", "enableTestCommands=1"}));
  }
  static void TearDownTestSuite() { server_.reset(); }
  void TearDown() override { fail_command(R"("off")", "{}"); }

  // Sets the fail point failCommand. `mode` and `data` are its fields as JSON.
  static void fail_command(std::string_view mode, std::string_view data) {
    const auto pool = must(
        Pool::open({.uri = server_->uri(), .application = "fail point", .connections_max = 1}));
    const std::string command = R"({"configureFailPoint": "failCommand", "mode": )" +
                                std::string(mode) + R"(, "data": )" + std::string(data) + "}";
    must(must(pool->connection())->run_apart("admin", must(bson::document_from_json(command))));
  }

  static inline std::unique_ptr<peer::MongodProcess> server_;
};

}  // namespace gridmount::mongo
