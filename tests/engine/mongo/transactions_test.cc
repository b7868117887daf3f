// Goal: a transaction over a replica set ends as the drivers' specification "Transactions" says
// when the server fails on the way.
// Method: fail points (failCommand) of MongoDB's server answer instead of the server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "engine/batch_insert.h"
#include "engine/bson/json.h"
#include "engine/error_labels.h"
#include "engine/mongo/connection.h"
#include "engine/mongo/mongo_store.h"
#include "tests/engine/mongo/server_with_fail_points.h"
#include "tests/must.h"

namespace gridmount::mongo {
namespace {

using engine::has_error_label;
using engine::kTransientTransactionError;
using engine::kUnknownTransactionCommitResult;

class FailingServer : public ServerWithFailPoints {
 protected:
  void SetUp() override {
    store_ = must(connect(
        {.uri = server_->uri("", "serverSelectionTimeoutMS=5000"), .application = "transactions"}));
  }

  // A collection for each test, because a transaction that a fail point has ended for the client
  // alone still holds its collection on the server.
  std::unique_ptr<engine::Collection> documents() {
    return store_->database("test")->collection(
        testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  Status insert(engine::Transaction& transaction, int32_t id) {
    bson::Builder document;
    document.append("_id", id);
    GM_TRY(documents()->insert(transaction, std::move(document).finish()));
    return {};
  }
  int64_t count() { return must(documents()->count(*must(store_->snapshot()), bson::View())); }

  std::unique_ptr<engine::Store> store_;
};

// libmongoc itself retries a commit once, so three failures need another try by the store.
TEST_F(FailingServer, Commit_OfUnknownResult_IsTriedAgain) {
  const auto transaction = must(store_->begin());
  must(insert(*transaction, 1));
  fail_command(R"({"times": 3})", R"({"failCommands": ["commitTransaction"], "errorCode": 91})");
  must(transaction->commit());
  EXPECT_EQ(count(), 1);
}

TEST_F(FailingServer, Commit_OverLostConnections_IsTriedAgain) {
  const auto transaction = must(store_->begin());
  must(insert(*transaction, 1));
  fail_command(R"({"times": 3})",
               R"({"failCommands": ["commitTransaction"], "closeConnection": true})");
  must(transaction->commit());
  EXPECT_EQ(count(), 1);
}

TEST_F(FailingServer, Commit_ThatTheServerRefuses_IsNotTriedAgain) {
  const auto transaction = must(store_->begin());
  must(insert(*transaction, 1));
  fail_command(R"({"times": 1})",
               R"({"failCommands": ["commitTransaction"], "errorCode": 251,
                   "errorLabels": ["TransientTransactionError"]})");
  const Status refused = transaction->commit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode{251});
  EXPECT_TRUE(has_error_label(refused.error(), kTransientTransactionError));
  EXPECT_FALSE(has_error_label(refused.error(), kUnknownTransactionCommitResult));
}

TEST_F(FailingServer, Write_OverALostConnection_IsTransient) {
  const auto transaction = must(store_->begin());
  must(insert(*transaction, 1));
  fail_command(R"({"times": 1})", R"({"failCommands": ["insert"], "closeConnection": true})");
  const Status lost = insert(*transaction, 2);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), ErrorCode::kHostUnreachable);
  EXPECT_TRUE(has_error_label(lost.error(), kTransientTransactionError));
}

TEST_F(FailingServer, Error_OfAServer_KeepsItsCodeAndLabels) {
  const auto transaction = must(store_->begin());
  fail_command(R"({"times": 1})", R"({"failCommands": ["insert"], "errorCode": 112,
                                      "errorLabels": ["TransientTransactionError", "Other"]})");
  const Status conflict = insert(*transaction, 1);
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code(), ErrorCode{112});
  EXPECT_TRUE(has_error_label(conflict.error(), kTransientTransactionError));
  EXPECT_TRUE(has_error_label(conflict.error(), "Other"));
  EXPECT_FALSE(has_error_label(conflict.error(), "Othe"));
}

TEST_F(FailingServer, Connection_AfterTheEndOfItsTransaction_NeedsAnotherBegin) {
  const auto pool = must(Pool::open({.uri = server_->uri(), .application = "transactions"}));
  const auto connection = must(pool->connection());
  const bson::Document command = must(bson::document_from_json(R"({"find": "ended"})"));
  for (const bool commits : {true, false}) {
    must(connection->begin_transaction());
    must(connection->run("test", command));
    if (commits) {
      must(connection->commit_transaction());
    } else {
      connection->abort_transaction();
    }
    const auto refused = connection->run("test", command);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::kIllegalOperation);
    must(connection->run_apart("test", command));
  }
  must(connection->begin_transaction());
  must(connection->commit_transaction());
  EXPECT_FALSE(connection->run("test", command)) << "A transaction without commands has ended too.";
}

TEST_F(FailingServer, ManyDocuments_AreInsertedWithFewCommands) {
  constexpr int32_t kDocuments = 50;
  std::vector<bson::Document> made;
  std::vector<bson::View> views;
  const std::string text(400'000, 'x');
  for (int32_t id = 0; id < kDocuments; ++id) {
    bson::Builder document;
    document.append("_id", id).append("text", text);
    made.push_back(std::move(document).finish());
  }
  views.assign(made.begin(), made.end());
  // The 20 MB need two commands. The fail point refuses a third one.
  fail_command(R"({"skip": 2})", R"({"failCommands": ["insert"], "errorCode": 112})");
  auto transaction = must(store_->begin());
  must(engine::insert_all(*documents(), *transaction, views));
  must(transaction->commit());
  fail_command(R"("off")", "{}");
  EXPECT_EQ(count(), kDocuments);
  transaction = must(store_->begin());
  const Status refused = engine::insert_all(*documents(), *transaction, views);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kDuplicateKey);
}

TEST_F(FailingServer, CursorOfAPausedSnapshot_IsClosedOnTheServer) {
  constexpr int32_t kMoreThanABatch = 150;
  // The server itself may have cursors of its own collections at any time.
  const auto open_cursors = [] {
    const std::string ns =
        std::string("test.") + testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string command =
        R"({"aggregate": 1, "cursor": {}, "pipeline": [{"$currentOp": {"idleCursors": true}},
            {"$match": {"type": "idleCursor", "ns": ")" +
        ns + R"("}}]})";
    const auto pool =
        must(Pool::open({.uri = server_->uri(), .application = "watcher", .connections_max = 1}));
    const bson::Document reply =
        must(must(pool->connection())->run_apart("admin", must(bson::document_from_json(command))));
    const bson::View found = reply.view()["cursor"].as_document()["firstBatch"].as_document();
    return std::distance(found.begin(), found.end());
  };
  auto transaction = must(store_->begin());
  for (int32_t id = 0; id < kMoreThanABatch; ++id) must(insert(*transaction, id));
  must(transaction->commit());

  const auto snapshot = must(store_->snapshot());
  auto cursor = must(documents()->find(*snapshot, bson::View(), {}));
  must(cursor->next());
  EXPECT_EQ(open_cursors(), 1);
  must(snapshot->pause());
  cursor.reset();
  EXPECT_EQ(open_cursors(), 0);
  must(snapshot->resume());
}

TEST_F(FailingServer, Deadline_ThatHasPassed_EndsExplainAndCompact) {
  const auto interrupt = std::make_shared<engine::Interrupt>();
  interrupt->kill(ErrorCode::kInterrupted);
  const engine::Deadline killed(interrupt);
  constexpr auto kPlan = engine::Verbosity::kQueryPlanner;
  const auto snapshot = must(store_->snapshot());
  const auto code = [](const auto& result) {
    return result ? ErrorCode(0) : result.error().code();
  };
  constexpr ErrorCode kExpired = ErrorCode::kMaxTimeMsExpired;
  engine::AggregateOptions options;
  options.deadline = killed;
  EXPECT_EQ(code(documents()->explain(*snapshot, {}, {.deadline = killed}, kPlan)), kExpired);
  EXPECT_EQ(code(documents()->explain_count(*snapshot, {}, {.deadline = killed}, kPlan)), kExpired);
  EXPECT_EQ(code(documents()->explain_aggregate(*snapshot, {}, options, kPlan)), kExpired);
  EXPECT_EQ(code(store_->compact({"test", "c"}, killed)), kExpired);
}

TEST(AppendDeadline, OfAKilledInterrupt_LeavesTheLeastTime) {
  const auto interrupt = std::make_shared<engine::Interrupt>();
  interrupt->kill(ErrorCode::kInterrupted);
  bson::Builder command;
  append_deadline(command, engine::Deadline(interrupt));
  EXPECT_EQ(std::move(command).finish().view()["maxTimeMS"].as_int64(), 1);
}

TEST(ErrorLabels, OfAnErrorWithoutDetails_AreNone) {
  EXPECT_FALSE(has_error_label({ErrorCode::kBadValue, "x"}, kTransientTransactionError));
}

}  // namespace
}  // namespace gridmount::mongo
