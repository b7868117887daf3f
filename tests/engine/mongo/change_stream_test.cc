// Goal: a change stream reports the changes of others and nothing else. It reports each change at
// least once and in order, even if the server fails, and returns an error when it cannot continue.
// Method: two stores on a replica set of MongoDB's server. Fail points make the stream's commands
// fail.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/mongo/connection.h"
#include "engine/mongo/mongo_store.h"
#include "engine/transient_error.h"
#include "tests/engine/mongo/server_with_fail_points.h"
#include "tests/must.h"
#include "tests/peer/mongod_process.h"

namespace gridmount::mongo {
namespace {

using engine::ChangeStream;
using engine::ChangeStreamOptions;
using peer::MongodKind;
using peer::MongodProcess;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

class ChangeStreamTest : public ServerWithFailPoints {
 protected:
  void SetUp() override {
    database_ = testing::UnitTest::GetInstance()->current_test_info()->name();
    store_ = open();
    other_ = open();
  }

  static std::unique_ptr<engine::Store> open() {
    return must(connect({.uri = server_->uri("", "serverSelectionTimeoutMS=20000"),
                         .application = "change stream"}));
  }
  static Status run(std::string_view database, std::string_view command) {
    GM_ASSIGN(const auto pool,
              Pool::open({.uri = server_->uri(), .application = "test", .connections_max = 1}));
    GM_ASSIGN(const auto connection, pool->connection());
    GM_TRY(connection->run_apart(database, must(bson::document_from_json(command))));
    return {};
  }

  Result<std::unique_ptr<ChangeStream>> watch(bson::View after = {}, bson::View stages = {}) {
    ChangeStreamOptions options;
    options.resume_after = after;
    options.stages = stages;
    options.patience = milliseconds(300);
    return store_->watch(database_, options);
  }
  void insert(engine::Store& store, std::string_view id, std::string_view collection = "c") {
    const auto transaction = must(store.begin());
    bson::Builder document;
    document.append("_id", id);
    must(store.database(database_)
             ->collection(collection)
             ->insert(*transaction, std::move(document).finish()));
    must(transaction->commit());
  }
  // Returns "<operation> <_id>".
  static std::string text_of(bson::View event) {
    std::string text(event["operationType"].as_string());
    if (const auto key = event.find("documentKey")) {
      text += " " + std::string(key->as_document()["_id"].as_string());
    }
    return text;
  }
  // Returns the text of each event, until the stream has waited for its patience without an event.
  static std::vector<std::string> events(ChangeStream& stream) {
    std::vector<std::string> found;
    while (true) {
      const std::vector<bson::View> batch = must(stream.next());
      if (batch.empty()) return found;
      for (const bson::View event : batch) found.push_back(text_of(event));
    }
  }

  std::string database_;
  std::unique_ptr<engine::Store> store_;
  std::unique_ptr<engine::Store> other_;
};

TEST_F(ChangeStreamTest, ChangesOfOthers_AreReportedInOrder) {
  insert(*other_, "before");
  const auto stream = must(watch());
  EXPECT_THAT(events(*stream), IsEmpty());
  insert(*other_, "1");
  insert(*other_, "2");
  EXPECT_THAT(events(*stream), ElementsAre("insert 1", "insert 2"));
}

TEST_F(ChangeStreamTest, OwnTransactions_AreLeftOut) {
  const auto stream = must(watch());
  insert(*store_, "own");
  insert(*other_, "of another");
  insert(*store_, "own too");
  EXPECT_THAT(events(*stream), ElementsAre("insert of another"));
}

TEST_F(ChangeStreamTest, Stages_ChooseEvents) {
  bson::Builder stages;
  stages.open_document("0").open_document("$match").append("ns.coll", "wanted").close().close();
  const auto stream = must(watch({}, std::move(stages).finish()));
  insert(*other_, "1", "wanted");
  insert(*other_, "2", "unwanted");
  EXPECT_THAT(events(*stream), ElementsAre("insert 1"));
}

TEST_F(ChangeStreamTest, ResumeToken_LeadsToTheNextEvent) {
  auto stream = must(watch());
  insert(*other_, "1");
  EXPECT_THAT(events(*stream), ElementsAre("insert 1"));
  const bson::Document token(stream->resume_token());
  stream.reset();
  insert(*other_, "2");
  insert(*other_, "3");
  stream = must(watch(token));
  EXPECT_THAT(events(*stream), ElementsAre("insert 2", "insert 3"));
}

// Without events, the resume token moves on too, so that its position does not fall out of the
// server's log.
TEST_F(ChangeStreamTest, ResumeToken_GoesOnWithoutEvents) {
  const auto stream = must(watch());
  ASSERT_THAT(events(*stream), IsEmpty());
  const bson::Document first(stream->resume_token());
  ASSERT_FALSE(first.view().empty());
  insert(*store_, "own");
  ASSERT_THAT(events(*stream), IsEmpty());
  EXPECT_NE(bson::Value(first.view()), bson::Value(stream->resume_token()));
}

TEST_F(ChangeStreamTest, LostConnection_EndsTheStreamAndTheNextOneGoesOn) {
  auto stream = must(watch());
  insert(*other_, "1");
  EXPECT_THAT(events(*stream), ElementsAre("insert 1"));
  fail_command(R"({"times": 1})", R"({"failCommands": ["getMore"], "closeConnection": true})");
  const auto lost = stream->next();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), ErrorCode::kHostUnreachable);
  EXPECT_EQ(stream->next().error().code(), ErrorCode::kHostUnreachable);
  insert(*other_, "2");
  const bson::Document token(stream->resume_token());
  stream = must(watch(token));
  EXPECT_THAT(events(*stream), ElementsAre("insert 2"));
}

TEST_F(ChangeStreamTest, KilledServer_LosesNothing) {
  auto stream = must(watch());
  insert(*other_, "1");
  EXPECT_THAT(events(*stream), ElementsAre("insert 1"));
  server_->end(SIGKILL);
  EXPECT_FALSE(stream->next());
  const bson::Document token(stream->resume_token());
  must(server_->start_again());
  // The killed server leaves dead connections in the stores, and the next command over each of
  // them fails. So the stores are opened again.
  stream.reset();
  store_ = open();
  other_ = open();
  insert(*other_, "2");
  stream = must(watch(token));
  EXPECT_THAT(events(*stream), ElementsAre("insert 2"));
}

TEST_F(ChangeStreamTest, DroppedDatabase_InvalidatesTheStream) {
  auto stream = must(watch());
  insert(*other_, "1");
  must(run(database_, R"({"dropDatabase": 1})"));
  std::vector<std::string> found;
  Result<std::vector<bson::View>> batch = stream->next();
  for (; batch; batch = stream->next()) {
    for (const bson::View event : *batch) found.push_back(text_of(event));
  }
  EXPECT_THAT(found, ElementsAre("insert 1", "drop", "dropDatabase", "invalidate"));
  EXPECT_EQ(batch.error().code(), engine::kInvalidResumeToken);
  EXPECT_FALSE(engine::is_resumable(batch.error()));
  EXPECT_EQ(stream->next().error().code(), engine::kInvalidResumeToken);
  // A stream that continues from this token gets the same error from the server.
  const bson::Document token(stream->resume_token());
  const auto resumed = watch(token);
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().code(), engine::kInvalidResumeToken);
}

// The server of this test keeps its whole log, so a fail point makes it report a missing part.
TEST_F(ChangeStreamTest, LostHistory_IsSaidByTheCode) {
  bson::Document token;
  {
    const auto stream = must(watch());
    EXPECT_THAT(events(*stream), IsEmpty());
    token = bson::Document(stream->resume_token());
  }
  fail_command(R"({"times": 1})", R"({"failCommands": ["aggregate"], "errorCode": 286})");
  const auto stream = watch(token);
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code(), engine::kChangeStreamHistoryLost);
}

TEST(ChangeStreamOfStandalone, IsNotThere) {
  peer::require_mongod();
  const auto server = must(MongodProcess::start(MongodKind::kStandalone));
  const auto store = must(connect({.uri = server->uri(), .application = "change stream"}));
  EXPECT_FALSE(store->capabilities().change_streams);
  const auto stream = store->watch("test", {});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code(), ErrorCode::kCommandNotSupported);
}

}  // namespace
}  // namespace gridmount::mongo
