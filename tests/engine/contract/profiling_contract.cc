// Goal: the profiler writes what operations did into system.profile. Source: MongoDB manual,
// "Database Profiler".
#include "engine/profiling/profiled_database.h"
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
