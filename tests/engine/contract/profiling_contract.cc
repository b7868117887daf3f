// Goal: the profiler writes what operations did into system.profile. Source: MongoDB manual,
// "Database Profiler".
#include "tests/engine/contract/profiled_database.h"
#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using profiling::Profiler;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kShown = R"({"op": 1, "ns": 1, "command": 1, "nreturned": 1,
    "nMatched": 1, "ndeleted": 1, "ninserted": 1, "errCode": 1, "_id": 0})";

TEST_P(StoreContract, Profiler_RecordsAllAtLevelTwo) {
  Profiler profiler(store());
  const auto database = profiling::profiled(db(), profiler);
  const auto people = database->collection("people");
  const auto work = [&] {
    ASSERT_THAT(
        commit([&](Transaction& transaction) -> Status {
          GM_TRY(people->insert(transaction, doc(R"({"_id": 1, "n": 1})")));
          GM_TRY(people->update(transaction, doc(R"({"_id": 1})"), doc(R"({"$inc": {"n": 1}})")));
          EXPECT_THAT(people->insert(transaction, doc(R"({"_id": 1})")),
                      FailedWith(ErrorCode::kDuplicateKey));
          return {};
        }),
        Succeeded());
    {
      const auto view = snapshot();
      const auto cursor = people->find(*view, doc(R"({"n": 2})"), {});
      EXPECT_TRUE((*cursor)->next()->has_value());
    }
    ASSERT_THAT(commit([&](Transaction& transaction) -> Status {
                  GM_TRY(people->remove(transaction, bson::View(), true));
                  return {};
                }),
                Succeeded());
    profiler.flush();
  };
  const auto profile = [&] {
    return find("{}", {.projection = std::string(kShown)}, "system.profile");
  };
  work();
  EXPECT_THAT(profile(), IsEmpty());
  EXPECT_THAT(profiler.set("test", {.level = 2}), Succeeded());
  work();
  EXPECT_THAT(
      profile(),
      ElementsAre(
          json(doc(R"({"op": "insert", "ns": "test.people", "command": {"insert": "people"},
                       "ninserted": {"$numberLong": "1"}})")),
          json(doc(R"({"op": "update", "ns": "test.people", "command": {"q": {"_id": 1},
                       "u": {"$inc": {"n": 1}}, "multi": false, "upsert": false},
                       "nMatched": {"$numberLong": "1"}})")),
          json(doc(R"({"op": "insert", "ns": "test.people", "command": {"insert": "people"},
                       "errCode": 11000})")),
          json(doc(R"({"op": "query", "ns": "test.people", "command": {"find": "people",
                       "filter": {"n": 2}}, "nreturned": {"$numberLong": "1"}})")),
          json(doc(R"({"op": "remove", "ns": "test.people", "command": {"q": {}, "limit": 0},
                       "ndeleted": {"$numberLong": "1"}})"))));
  EXPECT_EQ(count(R"({"ts": {"$lte": {"$date": "2999-01-01T00:00:00Z"}}, "millis": {"$gte": 0}})",
                  "system.profile"),
            5);
  EXPECT_THAT(collection_names(), ElementsAre("people", "system.profile"));
  // Only slow ones, which these are not; other databases are not looked at.
  EXPECT_THAT(profiler.set("test", {.level = 1, .slow = std::chrono::hours(1)}), Succeeded());
  work();
  EXPECT_EQ(count("{}", "system.profile"), 5);
  EXPECT_THAT(profiler.set("test", {.level = 1, .slow = std::chrono::milliseconds(0)}),
              Succeeded());
  work();
  EXPECT_EQ(count("{}", "system.profile"), 10);
  EXPECT_THAT(
      profiler.set("test", {.level = 1, .slow = std::chrono::milliseconds(0), .sample_rate = 0}),
      Succeeded());
  work();
  EXPECT_EQ(count("{}", "system.profile"), 10);
}

// Source: MongoDB manual, "Database Profiler Output": keysExamined, docsExamined, planSummary.
TEST_P(StoreContract, Observer_IsToldOfPlansAndWhatTheyRead) {
  for (int i = 0; i < 10; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i % 2) +
           R"(, "b": 1})");
  }
  create_index(R"({"a": 1})");
  const auto told = [&](const std::string& filter, std::string_view name = "c") {
    const auto observer = std::make_shared<ReadObserver>();
    const auto view = snapshot();
    view->observe(observer);
    const auto cursor = collection(name)->find(*view, doc(filter));
    EXPECT_THAT(cursor, Succeeded());
    view->observe(nullptr);
    while ((*cursor)->next()->has_value()) {
    }
    return observer->plan_summary + " " + std::to_string(observer->keys_examined) + " " +
           std::to_string(observer->documents_examined);
  };
  EXPECT_EQ(told("{}"), "COLLSCAN 0 10");
  EXPECT_EQ(told(R"({"b": 2})"), "COLLSCAN 0 10");
  EXPECT_EQ(told(R"({"a": 1})"), "IXSCAN { a: 1 } 5 5");
  EXPECT_EQ(told(R"({"_id": 1})"), "IDHACK 1 1");
  EXPECT_EQ(told(R"({"$or": [{"a": 7}, {"_id": 3}]})"), "IXSCAN { a: 1 }, IXSCAN { _id: 1 } 1 1");
  EXPECT_EQ(told("{}", "missing"), "EOF 0 0");

  const auto of_writes = std::make_shared<ReadObserver>();
  ASSERT_THAT(commit([&](Transaction& transaction) -> Status {
                transaction.observe(of_writes);
                for (int i = 0; i < 3; ++i) {
                  GM_TRY(collection()->update(transaction, doc(R"({"_id": 4})"),
                                              doc(R"({"$inc": {"b": 1}})")));
                }
                GM_TRY(collection()->remove(transaction, doc(R"({"a": 1})"), true));
                return {};
              }),
              Succeeded());
  EXPECT_EQ(of_writes->plan_summary, "IDHACK, IXSCAN { a: 1 }");
  EXPECT_EQ(of_writes->documents_examined, 3 + 5);
}

TEST_P(StoreContract, Observer_IsToldEachPlanOnce) {
  for (int i = 0; i < 5; ++i) insert(R"({"_id": )" + std::to_string(i) + R"(, "a": 1})");
  insert(R"({"_id": 1, "n": 1})", "other");
  create_index(R"({"n": 1})", false, "n", "other");
  const auto observer = std::make_shared<ReadObserver>();
  const auto view = snapshot();
  view->observe(observer);
  const bson::Document holder = doc(R"({"p": [
      {"$lookup": {"from": "other", "localField": "_id", "foreignField": "_id", "as": "x"}},
      {"$lookup": {"from": "other", "localField": "a", "foreignField": "n", "as": "y"}}]})");
  const auto cursor = collection()->aggregate(*view, holder.view()["p"].as_document());
  ASSERT_THAT(cursor, Succeeded());
  while ((*cursor)->next()->has_value()) {
  }
  EXPECT_EQ(observer->plan_summary, "COLLSCAN, IXSCAN { _id: 1 }, IXSCAN { n: 1 }");
  EXPECT_EQ(observer->documents_examined, 5 + 1 + 5);
}

TEST_P(StoreContract, Profiler_TellsHowOperationsRead) {
  Profiler profiler(store());
  const auto database = profiling::profiled(db(), profiler);
  insert(R"({"_id": 1, "n": 1})", "people");
  insert(R"({"_id": 2, "n": 2})", "people");
  ASSERT_THAT(profiler.set("test", {.level = 2}), Succeeded());
  {
    const auto view = snapshot();
    const auto cursor = database->collection("people")->find(*view, doc(R"({"n": 2})"), {});
    while ((*cursor)->next()->has_value()) {
    }
  }
  profiler.flush();
  EXPECT_EQ(count(R"({"op": "query", "keysExamined": 0, "docsExamined": 2, "nreturned": 1,
                      "planSummary": "COLLSCAN"})",
                  "system.profile"),
            1);
}

TEST_P(StoreContract, Profiler_RefusesWrongSettings) {
  Profiler profiler(store());
  EXPECT_THAT(profiler.set("test", {.level = 3}), FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(profiler.set("test", {.level = 1, .sample_rate = 1.5}),
              FailedWith(ErrorCode::kBadValue));
  EXPECT_EQ(profiler.settings("test").level, 0);
  EXPECT_FALSE(profiler.active());
}

}  // namespace
}  // namespace gridmount::engine
