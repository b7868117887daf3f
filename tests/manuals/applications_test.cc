// Goal: models of particular applications. Source: "Data Model Design for MongoDB", release 3.2.6,
// section "Model Specific Application Contexts".
#include "engine/bson/builder.h"
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Applications = Manual;

// "Model Data to Support Keyword Search".
TEST_F(Applications, KeywordSearch) {
  insert("volumes", R"(
    { title : "Moby-Dick" ,
      author : "Herman Melville" ,
      published : 1851 ,
      ISBN : NumberLong("0451526996") ,
      topics : [ "whaling" , "allegory" , "revenge" , "American" ,
        "novel" , "nautical" , "voyage" , "Cape Cod" ]
    }
    { title : "Walden", author : "Henry David Thoreau", topics : [ "American", "nature" ] })");
  const uint64_t before = index_entries();
  create_index("volumes", "{ topics: 1 }");
  // "The multi-key index creates separate index entries for each keyword".
  EXPECT_EQ(index_entries() - before, 10U);

  EXPECT_EQ(find("volumes", R"({ topics : "voyage" })", {.projection = "{ title: 1, _id: 0 }"}),
            json_each(R"({ title : "Moby-Dick" })"));
  EXPECT_EQ(json(find_one("volumes", R"({ topics : "voyage" })", "{ title: 1 }").view()["title"]),
            "\"Moby-Dick\"");
  const Explained explained = explain("volumes", R"({ topics : "voyage" })");
  EXPECT_EQ(explained.plan, "FETCH IXSCAN(topics_1)");
  EXPECT_EQ(explained.keys, 1);
  EXPECT_EQ(explained.documents, 1);
  EXPECT_EQ(count("volumes", R"({ topics : "American" })"), 2);
  EXPECT_EQ(count("volumes", R"({ topics : { $all: [ "American", "novel" ] } })"), 1);
  // "Keyword queries can not parse keywords for root or related words", and match as they stand.
  for (const Text query :
       {R"({ topics : "voyages" })", R"({ topics : "american" })", R"({ topics : "Cape" })"}) {
    EXPECT_EQ(count("volumes", query), 0) << query;
  }
  EXPECT_EQ(count("volumes", R"({ topics : /^american$/i })"), 2);
  // "indexes are always current".
  update("volumes", R"({ title: "Walden" })", R"({ $push: { topics: "pond" } })");
  EXPECT_EQ(explain("volumes", R"({ topics: "pond" })").returned, 1);
  update("volumes", R"({ title: "Walden" })", R"({ $pull: { topics: "pond" } })");
  EXPECT_THAT(find("volumes", R"({ topics: "pond" })"), IsEmpty());
}

// "Model Monetary Data", section "Exact Precision".
TEST_F(Applications, Money_AsScaledIntegers_IsExact) {
  insert("prices", R"({ _id: 1, price: 9990, currency: "USD" })");
  // "exact, mathematically valid matches".
  EXPECT_EQ(count("prices", "{ price: 9990 }"), 1);
  // "server-side arithmetic, e.g., $inc, $mul, and aggregation framework arithmetic".
  update("prices", "{ _id: 1 }", "{ $inc: { price: 10 } }");
  EXPECT_EQ(field("prices", "{}", "price"), "10000");
  update("prices", "{ _id: 1 }", "{ $mul: { price: 3 } }");
  EXPECT_EQ(field("prices", "{}", "price"), "30000");
  insert("prices",
         R"({ _id: 2, price: 100, currency: "USD" } { _id: 3, price: 200, currency: "USD" })");
  EXPECT_EQ(aggregate("prices", R"([ { $match: { _id: { $gt: 1 } } },
                                     { $group: { _id: "$currency", sum: { $sum: "$price" } } },
                                     { $set: { units: { $divide: [ "$sum", 1000 ] } } } ])"),
            json_each(R"({ _id: "USD", sum: 300, units: 0.3 })"));
  // The same sum with doubles, and with decimals, which are newer than that manual.
  insert("doubles", "{ price: 0.1 } { price: 0.2 }");
  EXPECT_EQ(aggregate("doubles",
                      R"([ { $match: { $expr: { $eq: [ { $add: [ 0.1, 0.2 ] }, 0.3 ] } } } ])"),
            Strings());
  insert("decimals", R"({ price: NumberDecimal("0.1") } { price: NumberDecimal("0.2") })");
  EXPECT_EQ(aggregate("decimals", R"([ { $group: { _id: null, sum: { $sum: "$price" } } } ])"),
            json_each(R"({ _id: null, sum: NumberDecimal("0.3") })"));
}

// "Model Monetary Data", section "Arbitrary Precision".
TEST_F(Applications, Money_AsTextAndApproximation) {
  insert("prices", R"(
    {
      _id: 1,
      price: { display: "9.99", approx: 9.9900000000000002, currency: "USD" },
      fee: { display: "0.25", approx: 0.2499999999999999, currency: "USD" }
    }
    {
      _id: 2,
      price: { display: "10.00", approx: 10.0, currency: "USD" },
      fee: { display: "0.25", approx: 0.2499999999999999, currency: "USD" }
    })");
  // "range and sort queries on the field with the numeric approximation". As a text, "10.00" is
  // less than "9.99".
  EXPECT_THAT(
      ids("prices", R"({ "price.approx": { $gt: 9.9 } })", {.sort = R"({ "price.approx": -1 })"}),
      ElementsAre("2", "1"));
  EXPECT_THAT(ids("prices", "{}", {.sort = R"({ "price.display": -1 })"}), ElementsAre("1", "2"));
  // The client then filters by the exact value.
  EXPECT_THAT(ids("prices", R"({ "price.approx": { $gte: 9.98, $lt: 10 },
                                 "price.display": "9.99" })"),
              ElementsAre("1"));
  EXPECT_EQ(find("prices", "{ _id: 1 }", {.projection = "{ _id: 0, fee: 1 }"}),
            json_each(R"({ fee: { display: "0.25", approx: 0.2499999999999999,
                                  currency: "USD" } })"));
}

// "Model Time Data".
TEST_F(Applications, Time_KeepsTheOffset) {
  const bson::Date now = bson::Date::now();
  bson::Builder record;
  record.append("date", now).append("offset", int32_t{-330});  // getTimezoneOffset() in India
  ASSERT_THAT(try_insert("data", std::move(record).finish()), Succeeded());

  // "You can reconstruct the original local time by applying the saved offset".
  const bson::Document found = find_one("data");
  const int64_t local =
      found.view()["date"].as_date().milliseconds - *found.view()["offset"].integral() * 60000;
  EXPECT_EQ(local, now.milliseconds + 330 * 60000);
  const auto view = snapshot();
  const auto cursor = collection("data")->aggregate(*view, array(R"([ { $project: { _id: 0,
      local: { $subtract: [ "$date", { $multiply: [ "$offset", 60000 ] } ] } } } ])"));
  ASSERT_THAT(cursor, Succeeded());
  const auto computed = (*cursor)->next();
  ASSERT_THAT(computed, Succeeded());
  ASSERT_TRUE(computed->has_value());
  EXPECT_EQ((**computed)["local"].as_date().milliseconds, local);
}

// "MongoDB stores times in UTC by default, and will convert any local time representations".
TEST_F(Applications, Time_IsUtc) {
  insert("data", R"({ _id: 1, date: ISODate("2016-05-03T12:00:00+05:30") }
                    { _id: 2, date: ISODate("2016-05-03T06:30:00Z") })");
  EXPECT_EQ(distinct("data", "date"), (Strings{R"({ "$date" : "2016-05-03T06:30:00Z" })"}));
  EXPECT_EQ(aggregate("data", R"([ { $match: { _id: 2 } }, { $project: { _id: 0, local: {
                $dateToString: { date: "$date", format: "%Y-%m-%d %H:%M", timezone: "+05:30" } } } } ])"),
            json_each(R"({ local: "2016-05-03 12:00" })"));
}

}  // namespace
}  // namespace gridmount::manuals
