// Goal: the types of values, their comparison, and the special cases of some. Source: "Data Model
// Design for MongoDB", release 2.4.9, section "BSON Types". Where servers have changed since
// (MinKey's number, dates before timestamps), the newer rule is tested.
#include <set>

#include "engine/bson/builder.h"
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;

using BsonTypes = Manual;

// The table of types and numbers.
TEST_F(BsonTypes, HaveNumbers) {
  struct Case {
    int number;
    Text value;
  };
  const std::vector<Case> cases = {
      {1, "1.5"},
      {2, "\"text\""},
      {3, "{ a: 1 }"},
      {4, "[ [ 1 ] ]"},
      {5, R"({ "$binary": { "base64": "AAEC", "subType": "00" } })"},
      {6, R"({ "$undefined": true })"},
      {7, R"(ObjectId("507f191e810c19729de860ea"))"},
      {8, "false"},
      {9, R"(ISODate("2012-10-15"))"},
      {10, "null"},
      {11, "/a/i"},
      {13, R"({ "$code": "x" })"},
      {14, R"({ "$symbol": "s" })"},
      {15, R"({ "$code": "x", "$scope": { "a": 1 } })"},
      {16, "NumberInt(5)"},
      {17, "Timestamp(5, 1)"},
      {18, "NumberLong(5)"},
      {19, R"(NumberDecimal("5.5"))"},
      {-1, "MinKey"},
      {127, "MaxKey"},
  };
  for (const Case& each : cases) {
    insert("c", "{ _id: " + std::to_string(each.number) + ", v: " + std::string(each.value) + " }");
  }
  EXPECT_EQ(count("c"), static_cast<int64_t>(cases.size()));
  for (const Case& each : cases) {
    const std::string number = std::to_string(each.number);
    // The array's element is an array, so $type finds the value under no other type.
    EXPECT_EQ(ids("c", "{ v: { $type: " + number + " } }"), Strings{number}) << each.value;
  }
  EXPECT_THAT(ids("c", R"({ v: { $type: "number" } })", {.sort = "{ _id: 1 }"}),
              ElementsAre("1", "16", "18", "19"));
  const auto refused = collection("c")->count(*snapshot(), document("{ v: { $type: 255 } }"));
  EXPECT_THAT(refused, FailedWith(ErrorCode::kBadValue));
}

// "MongoDB uses the following comparison order, from lowest to highest".
TEST_F(BsonTypes, AreOrdered) {
  const std::vector<std::string> order = {
      "MinKey",
      "null",
      "-5",
      "NumberLong(3)",
      "4.5",
      R"(NumberDecimal("7.5"))",
      "\"a\"",
      R"({ "$symbol": "b" })",
      "\"c\"",
      "{ a: 1 }",
      "[ [ 1 ] ]",
      R"({ "$binary": { "base64": "AAEC", "subType": "00" } })",
      R"(ObjectId("507f191e810c19729de860ea"))",
      "false",
      "true",
      R"(ISODate("2012-10-15"))",
      "Timestamp(5, 1)",
      "/a/",
      "MaxKey",
  };
  Strings expected;
  for (size_t i = 0; i < order.size(); ++i) {
    // The documents are not inserted in the order of their values.
    const size_t next = (i * 7) % order.size();
    insert("c", "{ _id: " + std::to_string(next) + ", v: " + order[next] + " }");
    expected.push_back(std::to_string(i));
  }
  EXPECT_EQ(ids("c", "{}", {.sort = "{ v: 1 }"}), expected);
  create_index("c", "{ v: 1 }");
  EXPECT_EQ(ids("c", "{}", {.sort = "{ v: 1 }", .hint = bson::Value("v_1")}), expected);
  // A comparison finds only values of the same type, except with MinKey and MaxKey.
  EXPECT_THAT(ids("c", "{ v: { $gt: 4 } }"), ElementsAre("4", "5"));
  EXPECT_THAT(ids("c", R"({ v: { $gte: "b" } })", {.sort = "{ _id: 1 }"}), ElementsAre("7", "8"));
  EXPECT_EQ(count("c", "{ v: { $gt: MinKey } }"), static_cast<int64_t>(order.size()) - 1);
}

// "numeric types undergo conversion before comparison".
TEST_F(BsonTypes, NumbersAreEqualAcrossTypes) {
  insert("c", R"({ v: NumberInt(1) } { v: NumberLong(1) } { v: 1.0 } { v: NumberDecimal("1.00") }
                 { v: "1" } { v: true })");
  for (const Text one : {"1", "1.0", "NumberLong(1)", R"(NumberDecimal("1"))"}) {
    EXPECT_EQ(count("c", "{ v: " + std::string(one) + " }"), 4) << one;
  }
  EXPECT_EQ(distinct("c", "v").size(), 3U);
}

// "String": UTF-8, also in patterns; compared as bytes.
TEST_F(BsonTypes, StringsAreUtf8) {
  insert("c", R"({ _id: 1, s: "naïve" } { _id: 2, s: "Zürich" } { _id: 3, s: "日本語" }
                 { _id: 4, s: "apple" })");
  EXPECT_EQ(field("c", "{ _id: 3 }", "s"), "\"日本語\"");
  EXPECT_THAT(ids("c", "{ s: /^na.ve$/ }"), ElementsAre("1"));
  EXPECT_THAT(ids("c", "{ s: /^日.語$/ }"), ElementsAre("3"));
  EXPECT_THAT(ids("c", "{ s: /ZÜRICH/i }"), ElementsAre("2"));
  EXPECT_THAT(ids("c", "{}", {.sort = "{ s: 1 }"}), ElementsAre("2", "4", "1", "3"));
}

// "Timestamps": ordered by seconds, then by the ordinal.
TEST_F(BsonTypes, TimestampsHaveTwoParts) {
  insert("c", R"({ _id: 1, ts: Timestamp(1412180887, 2) } { _id: 2, ts: Timestamp(1412180886, 9) }
                 { _id: 3, ts: Timestamp(1412180887, 1) })");
  EXPECT_THAT(ids("c", "{}", {.sort = "{ ts: 1 }"}), ElementsAre("2", "3", "1"));
  EXPECT_THAT(ids("c", "{ ts: { $gt: Timestamp(1412180887, 1) } }"), ElementsAre("1"));
  // "not associated with the regular Date type".
  EXPECT_EQ(count("c", R"({ ts: { $gt: ISODate("1970-01-01") } })"), 0);
}

// "If you create a BSON Timestamp using the empty constructor": filled in at the top (in the
// manual's time in the first two fields only), and left empty elsewhere.
TEST_F(BsonTypes, EmptyTimestampsAreFilledIn) {
  std::set<std::string> seen;
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(i);
    insert("c", "{ _id: " + id + ", ts: Timestamp(0, 0), nested: { ts: Timestamp(0, 0) } }");
    const bson::Document found = find_one("c", "{ _id: " + id + " }");
    EXPECT_GT(found.view()["ts"].as_timestamp().seconds, 1'000'000'000U);
    EXPECT_EQ(found.view()["nested"].as_document()["ts"].as_timestamp(), bson::Timestamp());
    seen.insert(json(found.view()["ts"]));
  }
  // "Within a single mongod instance, timestamp values are always unique."
  EXPECT_EQ(seen.size(), 20U);
  insert("first", "{ ts: Timestamp(0, 0) }");
  EXPECT_GT(find_one("first").view()["ts"].as_timestamp().seconds, 0U);
}

// "Date": "Negative values represent dates before 1970", in sorts, range queries and indexes.
TEST_F(BsonTypes, DatesAreSigned) {
  insert("c", R"({ _id: 1, d: ISODate("1970-01-01") } { _id: 2, d: ISODate("1912-06-23") }
                 { _id: 3, d: ISODate("2012-10-15") } { _id: 4, d: Date(-1) })");
  const auto expect_answers = [&]() {
    EXPECT_THAT(ids("c", "{}", {.sort = "{ d: 1 }"}), ElementsAre("2", "4", "1", "3"));
    EXPECT_THAT(ids("c", R"({ d: { $lt: ISODate("1970-01-01") } })", {.sort = "{ d: 1 }"}),
                ElementsAre("2", "4"));
  };
  expect_answers();
  create_index("c", "{ d: 1 }");
  expect_answers();
}

// "Date", the examples: as a string, and its month.
TEST_F(BsonTypes, DatesHaveParts) {
  insert("c", R"({ _id: 1, d: ISODate("2014-01-27T12:30:15.250Z") })");
  EXPECT_EQ(aggregate("c", R"([ { $project: { _id: 0, text: { $toString: "$d" },
                                              month: { $month: "$d" } } } ])"),
            json_each(R"({ text: "2014-01-27T12:30:15.250Z", month: 1 })"));
  // getMonth() is "zero-indexed, so that January is month 0".
  EXPECT_EQ(aggregate("c", R"([ { $project: { _id: 0,
                month: { $subtract: [ { $month: "$d" }, 1 ] } } } ])"),
            json_each("{ month: 0 }"));
  // new Date(), ISODate(): now.
  const bson::Date now = bson::Date::now();
  update("c", "{}", "{ $currentDate: { now: true } }");
  EXPECT_GE(find_one("c").view()["now"].as_date(), now);
  EXPECT_LE(find_one("c").view()["now"].as_date(), bson::Date::now());
}

}  // namespace
}  // namespace gridmount::manuals
