// Goal: cursors as clients use them: batches, getMore, killCursors, tailable cursors that await
// data, cursors of sessions, time limits.
#include <thread>

#include "tests/engine/wire/commands/service_test.h"
#include "tests/sanitized.h"

namespace gridmount::wire {
namespace {

using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kSession =
    R"({"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}})";
constexpr const char* kOtherSession =
    R"({"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAQ==", "subType": "04"}}})";

class Cursors : public ServiceTest {
 protected:
  std::string get_more(int64_t id, std::string_view rest = "", std::string_view collection = "c") {
    return R"({"getMore": {"$numberLong": ")" + std::to_string(id) + R"("}, "collection": ")" +
           std::string(collection) + "\"" + std::string(rest) + "}";
  }
  std::string kill(int64_t id, std::string_view collection = "c") {
    return R"({"killCursors": ")" + std::string(collection) +
           R"(", "cursors": [{"$numberLong": ")" + std::to_string(id) + R"("}]})";
  }
  void insert_large(int count, size_t bytes_each) {
    const std::string large(bytes_each, 'x');
    for (int i = 0; i < count; ++i) {
      bson::Builder document;
      document.append("_id", int32_t{i}).append("x", large);
      const bson::Document whole = std::move(document).finish();
      handle(client(), doc(R"({"insert": "c"})"), "test", {{"documents", {whole}}});
    }
  }
};

TEST_F(Cursors, Batches_Sizes_AreAskedFor) {
  insert_numbered("c", 250);
  bson::Document reply = run(R"({"find": "c"})");
  EXPECT_THAT(batch(reply), SizeIs(101));
  const int64_t id = cursor_id(reply);
  EXPECT_NE(id, 0);
  EXPECT_EQ(field(reply, "cursor.ns"), R"("test.c")");
  reply = run(get_more(id, R"(, "batchSize": 10)"));
  EXPECT_THAT(batch(reply), SizeIs(10));
  EXPECT_EQ(cursor_id(reply), id);
  reply = run(get_more(id));
  EXPECT_THAT(batch(reply), SizeIs(139));
  EXPECT_EQ(cursor_id(reply), 0);
  EXPECT_EQ(bad(get_more(id)), "43: cursor id " + std::to_string(id) + " not found");
}

TEST_F(Cursors, FirstBatch_Ends_AsMongoDbDoes) {
  insert_numbered("c", 5);
  EXPECT_NE(cursor_id(run(R"({"find": "c", "batchSize": 5})")), 0);
  EXPECT_EQ(cursor_id(run(R"({"find": "c", "batchSize": 5, "limit": 5})")), 0);
  EXPECT_EQ(cursor_id(run(R"({"find": "c", "batchSize": 6})")), 0);
  EXPECT_EQ(cursor_id(run(R"({"find": "c", "batchSize": 2, "singleBatch": true})")), 0);
  const bson::Document empty = run(R"({"find": "c", "batchSize": 0})");
  EXPECT_THAT(batch(empty), IsEmpty());
  EXPECT_THAT(batch(run(get_more(cursor_id(empty)))), SizeIs(5));
  const bson::Document limited = run(R"({"find": "c", "batchSize": 2, "limit": 4})");
  const bson::Document rest = run(get_more(cursor_id(limited), R"(, "batchSize": 2)"));
  EXPECT_THAT(batch(rest), SizeIs(2));
  EXPECT_EQ(cursor_id(rest), 0);
}

TEST_F(Cursors, Batches_OfLargeDocuments_FitIntoAReply) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  insert_large(40, 1 << 20);
  bson::Document reply = run(R"({"find": "c", "batchSize": 40})");
  EXPECT_THAT(batch(reply), SizeIs(15));
  EXPECT_LE(reply.view().size(), bson::kMaxDocumentBytes + bson::kInternalOverhead);
  size_t total = batch(reply).size();
  while (const int64_t id = cursor_id(reply)) {
    reply = run(get_more(id, R"(, "batchSize": 40)"));
    EXPECT_LE(reply.view().size(), bson::kMaxDocumentBytes + bson::kInternalOverhead);
    total += batch(reply).size();
  }
  EXPECT_EQ(total, 40u);
}

TEST_F(Cursors, Batches_OnThisMachine_AreSmall_UnlessAskedFor) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  insert_large(30, 256 * 1024);
  const auto sizes = [&](Client& whose) {
    const bson::Document first = run_as(whose, R"({"find": "c"})");
    const bson::Document next = run_as(whose, get_more(cursor_id(first)));
    return std::pair(batch(first).size(), batch(next).size());
  };
  EXPECT_EQ(sizes(client()), std::pair(size_t{4}, size_t{4}));
  EXPECT_THAT(batch(run(R"({"find": "c", "singleBatch": true})")), SizeIs(30));
  EXPECT_THAT(batch(run(R"({"find": "c", "batchSize": 20})")), SizeIs(20));
  EXPECT_THAT(batch(run(R"({"aggregate": "c", "pipeline": [], "cursor": {}})")), SizeIs(4));

  insert_large(90, 256 * 1024);  // existing documents are refused
  Client remote(1000,
                {.kind = Peer::Kind::kTcp, .address = "192.0.2.1:5000", .is_loopback = false});
  EXPECT_EQ(sizes(remote), std::pair(size_t{63}, size_t{27}));
  service().forget(remote);
}

TEST_F(Cursors, GetMore_BadArguments_AreRefused) {
  insert_numbered("c", 5);
  const int64_t id = cursor_id(run(R"({"find": "c", "batchSize": 1})"));
  EXPECT_THAT(bad(get_more(id, "", "other")), StartsWith("13: Requested getMore on namespace"));
  EXPECT_EQ(bad(R"({"getMore": 5, "collection": "c"})"),
            "14: BSON field 'getMore.getMore' is the wrong type 'int', expected type 'long'");
  EXPECT_EQ(bad(get_more(id, R"(, "maxTimeMS": 5)")),
            "2: cannot set maxTimeMS on getMore command for a non-awaitData cursor");
  EXPECT_EQ(code_of(get_more(id, R"(, "maxTimeMS": 0)")), 2);
  EXPECT_EQ(code_of(get_more(id, R"(, "batchSize": -1)")), 51024);
  EXPECT_EQ(code_of(get_more(id, R"(, "foo": 1)")), 40415);
  EXPECT_THAT(batch(run(get_more(id))), SizeIs(4));
}

TEST_F(Cursors, OfOldClients_TellTheirPosition) {
  insert_numbered("c", 10);
  const auto old_client = [&](const std::string& command) {
    return std::get<bson::Document>(handle(client(), doc(command), "test", {}, true));
  };
  const int64_t id = cursor_id(old_client(R"({"find": "c", "batchSize": 2})"));
  EXPECT_EQ(field(old_client(get_more(id, R"(, "batchSize": 3)")), "cursor.startingFrom"), "2");
  EXPECT_EQ(field(old_client(get_more(id, R"(, "batchSize": 3)")), "cursor.startingFrom"), "5");
  EXPECT_EQ(field(run(get_more(id, R"(, "batchSize": 1)")), "cursor.startingFrom"), "missing");
}

TEST_F(Cursors, KillCursors_FindsThemByTheirNumberAlone) {
  insert_numbered("c", 10);
  const int64_t id = cursor_id(run(R"({"find": "c", "batchSize": 2})"));
  const bson::Document killed = run(kill(id, "other"));
  EXPECT_EQ(field(killed, "cursorsKilled.0"), std::to_string(id));
  EXPECT_EQ(code_of(get_more(id)), 43);
}

TEST_F(Cursors, KillCursors_Lists_SayWhatBecameOfThem) {
  insert_numbered("c", 5);
  const int64_t id = cursor_id(run(R"({"find": "c", "batchSize": 1})"));
  EXPECT_EQ(
      good(kill(id)),
      R"({ "cursorsKilled" : [ )" + std::to_string(id) +
          R"( ], "cursorsNotFound" : [  ], "cursorsAlive" : [  ], "cursorsUnknown" : [  ] })");
  EXPECT_EQ(good(kill(id), "test", "cursorsNotFound.0"), std::to_string(id));
  EXPECT_EQ(code_of(get_more(id)), 43);
  EXPECT_EQ(code_of(R"({"killCursors": "c"})"), 40414);
  EXPECT_EQ(code_of(R"({"killCursors": "c", "cursors": [1]})"), 14);
}

TEST_F(Cursors, Session_OfACursor_IsItsOnlyReader) {
  insert_numbered("c", 5);
  const std::string lsid = R"(, "lsid": )" + std::string(kSession);
  const int64_t id = cursor_id(run(R"({"find": "c", "batchSize": 1)" + lsid + "}"));
  EXPECT_EQ(code_of(get_more(id)), 50737);
  EXPECT_EQ(code_of(get_more(id, R"(, "lsid": )" + std::string(kOtherSession))), 50738);
  EXPECT_THAT(batch(run(get_more(id, R"(, "batchSize": 1)" + lsid))), SizeIs(1));
  const int64_t free = cursor_id(run(R"({"find": "c", "batchSize": 1})"));
  EXPECT_EQ(code_of(get_more(free, lsid)), 50736);
}

// An exactly filled batch leaves its cursor open, unless there can be only one document.
TEST_F(Cursors, FindById_FilledExactly_HasEnded) {
  insert_numbered("c", 5);
  const auto left = [&](const std::string& rest) {
    return cursor_id(run(R"({"find": "c", "batchSize": 1, )" + rest + "}")) != 0;
  };
  EXPECT_FALSE(left(R"("filter": {"_id": 1})"));
  EXPECT_TRUE(left(R"("filter": {"_id": {"$eq": 1}})"));
  EXPECT_TRUE(left(R"("filter": {"_id": 1}, "hint": "_id_")"));
  const int64_t none_yet = cursor_id(run(R"({"find": "c", "batchSize": 0, "filter": {"_id": 1}})"));
  ASSERT_NE(none_yet, 0);
  EXPECT_EQ(cursor_id(run(get_more(none_yet))), 0);
}

TEST_F(Cursors, Tailable_AwaitData_IsDeferredUntilThereIsSome) {
  good(R"({"create": "t", "capped": true, "size": 100000})");
  EXPECT_EQ(cursor_id(run(R"({"find": "t", "tailable": true})")), 0);
  insert_numbered("t", 1);
  const bson::Document first = run(R"({"find": "t", "tailable": true, "awaitData": true})");
  EXPECT_THAT(batch(first), SizeIs(1));
  const int64_t id = cursor_id(first);
  ASSERT_NE(id, 0);
  const bson::Document more = doc(get_more(id, R"(, "maxTimeMS": 100)", "t"));

  const uint64_t before = service().changes();
  const Outcome nothing = handle(client(), more);
  ASSERT_TRUE(std::holds_alternative<Deferral>(nothing));
  EXPECT_LE(std::get<Deferral>(nothing).until,
            steady_clock::now() + std::chrono::milliseconds(100));
  insert("t", R"([{"_id": "new"}])");
  EXPECT_NE(service().changes(), before);
  const Outcome some = handle(client(), more);
  ASSERT_TRUE(std::holds_alternative<bson::Document>(some));
  EXPECT_THAT(batch(std::get<bson::Document>(some)), ElementsAre(R"({ "_id" : "new" })"));

  const Outcome again = handle(client(), more);
  ASSERT_TRUE(std::holds_alternative<Deferral>(again));
  std::this_thread::sleep_until(std::get<Deferral>(again).until);
  const Outcome empty = handle(client(), more);
  ASSERT_TRUE(std::holds_alternative<bson::Document>(empty));
  EXPECT_THAT(batch(std::get<bson::Document>(empty)), IsEmpty());
  EXPECT_EQ(cursor_id(std::get<bson::Document>(empty)), id);

  ASSERT_TRUE(std::holds_alternative<Deferral>(handle(client(), more)));
  int notified = 0;
  service().on_change([&] { ++notified; });
  good(kill(id, "t"));
  EXPECT_EQ(notified, 1);
  EXPECT_EQ(field(std::get<bson::Document>(handle(client(), more)), "code"), "43");
}

TEST_F(Cursors, Tailable_WithoutAwaitData_AnswersAtOnce) {
  good(R"({"create": "t", "capped": true, "size": 100000})");
  insert_numbered("t", 2);
  const int64_t id = cursor_id(run(R"({"find": "t", "tailable": true})"));
  const bson::Document empty = run(get_more(id, "", "t"));
  EXPECT_THAT(batch(empty), IsEmpty());
  EXPECT_EQ(cursor_id(empty), id);
}

TEST_F(Cursors, Tailable_WhereItCannotBe_IsRefused) {
  good(R"({"create": "t", "capped": true, "size": 100000})");
  insert_numbered("t", 2);
  good(R"({"create": "v", "viewOn": "t", "pipeline": []})");
  for (const char* const sort : {R"({"a": 1})", R"({"$natural": -1})"}) {
    EXPECT_EQ(bad(R"({"find": "t", "tailable": true, "singleBatch": true, "sort": )" +
                  std::string(sort) + "}"),
              "2: cannot use tailable option with a sort other than {$natural: 1}");
  }
  good(R"({"find": "t", "tailable": true, "sort": {"$natural": 1}})");
  for (const char* const collection : {"t", "v", "none"}) {
    EXPECT_EQ(bad(R"({"find": ")" + std::string(collection) +
                  R"(", "tailable": true, "singleBatch": true})"),
              "2: cannot use tailable option with the 'singleBatch' option");
  }
  EXPECT_EQ(bad(R"({"find": "v", "tailable": true})"),
            "168: Tailable cursors are not supported in aggregation.");
  insert_numbered("c", 1);
  EXPECT_EQ(code_of(R"({"explain": {"find": "t", "tailable": true, "singleBatch": true}})"), 2);
  EXPECT_EQ(code_of(R"({"explain": {"find": "v", "tailable": true}})"), 168);
  EXPECT_EQ(code_of(R"({"explain": {"find": "c", "tailable": true}})"), 2);
  good(R"({"explain": {"find": "t", "tailable": true}})");
  EXPECT_EQ(code_of(R"({"find": "t", "awaitData": true, "singleBatch": true})"), 9);
}

TEST_F(Cursors, Tailable_WithALimit_StaysOpenBehindIt) {
  good(R"({"create": "t", "capped": true, "size": 100000})");
  insert_numbered("t", 5);
  const bson::Document first =
      run(R"({"find": "t", "tailable": true, "limit": 2, "batchSize": 2})");
  EXPECT_THAT(batch(first), SizeIs(2));
  const int64_t id = cursor_id(first);
  EXPECT_NE(id, 0);
  const bson::Document next = run(get_more(id, "", "t"));
  EXPECT_THAT(batch(next), IsEmpty());
  EXPECT_EQ(cursor_id(next), id);
}

TEST_F(Cursors, MaxTime_OfFind_CountsReadingAlone) {
  constexpr int kDocuments = kSanitized ? 500 : 5000;
  insert_numbered("c", kDocuments);
  EXPECT_THAT(bad(R"({"find": "c", "maxTimeMS": 1, "filter": {"$expr": {"$eq": [
                {"$reduce": {"input": {"$range": [0, 20000]}, "initialValue": 0,
                             "in": {"$add": ["$$value", "$$this"]}}}, 1]}}})"),
              StartsWith("50: "));
  const int64_t id = cursor_id(run(R"({"find": "c", "batchSize": 1, "maxTimeMS": 200})"));
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_THAT(batch(run(get_more(id))), SizeIs(kDocuments - 1));
  EXPECT_EQ(code_of(R"({"find": "c", "maxTimeMS": -1})"), 2);
  good(R"({"find": "c", "maxTimeMS": 0})");
}

TEST_F(Cursors, Cursors_TooMany_AreRefused) {
  restart({.cursors_max = 3});
  insert_numbered("c", 5);
  for (int i = 0; i < 3; ++i) good(R"({"find": "c", "batchSize": 1})");
  EXPECT_THAT(bad(R"({"find": "c", "batchSize": 1})"), HasSubstr("open cursors"));
  good(R"({"find": "c"})");
}

TEST_F(Cursors, Expire_IdleOnes_AreGone) {
  restart({.cursor_idle_max = std::chrono::milliseconds(50)});
  insert_numbered("c", 5);
  const int64_t id = cursor_id(run(R"({"find": "c", "batchSize": 1})"));
  const int64_t stays = cursor_id(run(R"({"find": "c", "batchSize": 1, "noCursorTimeout": true})"));
  service().expire(steady_clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(code_of(get_more(id)), 43);
  EXPECT_THAT(batch(run(get_more(stays))), SizeIs(4));
}

TEST_F(Cursors, ShutDown_Requests_AreInterrupted) {
  insert_numbered("c", 5);
  service().shut_down();
  EXPECT_EQ(bad(R"({"find": "c"})"), "11600: interrupted at shutdown");
}

}  // namespace
}  // namespace gridmount::wire
