// Goal: the profiler records operations in system.profile.
// Source: MongoDB manual, "Database Profiler".
#include "engine/profiling/profiler.h"
#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using profiling::Profiler;
using ::testing::ElementsAre;

TEST_P(StoreContract, Profiler_RecordsWhatItsLevelSays) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  Profiler profiler(store());
  const Namespace people{"test", "people"};
  const auto record = [&](microseconds duration) {
    profiling::Operation operation;
    operation.op = "query";
    operation.ns = people;
    operation.command = doc(R"({"find": "people"})");
    operation.duration = duration;
    if (profiler.wants(people, duration)) profiler.record(std::move(operation));
    profiler.flush();
    return count("{}", "system.profile");
  };
  EXPECT_FALSE(profiler.active());
  EXPECT_EQ(record(milliseconds(500)), 0);
  EXPECT_THAT(profiler.set("test", {.level = 2}), Succeeded());
  EXPECT_TRUE(profiler.active());
  EXPECT_EQ(record(microseconds(1)), 1);
  EXPECT_THAT(collection_names(), ElementsAre("system.profile"));
  EXPECT_EQ(count(R"({"op": "query", "ns": "test.people", "command": {"find": "people"},
                      "ts": {"$lte": {"$date": "2999-01-01T00:00:00Z"}}, "millis": 0})",
                  "system.profile"),
            1);
  // Level 1 records only slow operations, and only those of this database.
  EXPECT_THAT(profiler.set("test", {.level = 1, .slow = milliseconds(100)}), Succeeded());
  EXPECT_EQ(record(milliseconds(99)), 1);
  EXPECT_EQ(record(milliseconds(101)), 2);
  EXPECT_FALSE(profiler.wants({"other", "people"}, milliseconds(500)));
  EXPECT_THAT(profiler.set("test", {.level = 1, .slow = milliseconds(100), .sample_rate = 0}),
              Succeeded());
  EXPECT_EQ(record(milliseconds(101)), 2);
}

TEST_P(StoreContract, Profiler_RecordThatCannotBeWritten_CostsNoOther) {
  GM_NEEDS(continues_after_failed_writes);
  Profiler profiler(store());
  const auto record = [&](const std::string& database) {
    profiling::Operation operation;
    operation.op = "query";
    operation.ns = {database, "people"};
    operation.command = doc(R"({"find": "people"})");
    profiler.record(std::move(operation));
  };
  // The profiler writes what is queued together, so it needs some time for the first records.
  for (int i = 0; i < 1000; ++i) {
    record("test");
    record("not a name");
  }
  profiler.flush();
  EXPECT_EQ(count("{}", "system.profile"), 1000);
}

// Source: MongoDB manual, "Database Profiler Output": keysExamined, docsExamined, planSummary.
TEST_P(StoreContract, Observer_IsToldOfPlansAndWhatTheyRead) {
  GM_NEEDS(observers);
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
  GM_NEEDS(observers);
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
