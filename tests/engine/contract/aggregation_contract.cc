// Goal: pipelines, views, distinct and time limits work over a real store. The tests cover what the
// stages need from the store. tests/engine/query covers what each stage does with documents.
// Source: MongoDB manual, "Aggregation", "Views", "distinct".
#include <algorithm>
#include <chrono>

#include "engine/bson/compare.h"
#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Strings = std::vector<std::string>;

// Parses a JSON array. Returns it as the document {"0": ..., "1": ...}.
bson::Document array(std::string_view text) {
  const bson::Document holder = doc("{\"a\": " + std::string(text) + "}");
  return bson::Document(holder.view()["a"].as_document());
}

Result<Strings> gather(Result<std::unique_ptr<Cursor>> cursor) {
  if (!cursor) return fail(cursor.error());
  Strings documents;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, (*cursor)->next());
    if (!document) return documents;
    documents.push_back(json(*document));
  }
}

Result<Strings> aggregate(Collection& collection, Snapshot& snapshot, std::string_view stages,
                          const AggregateOptions& options = {}) {
  return gather(collection.aggregate(snapshot, array(stages), options));
}

Strings must(Result<Strings> result) {
  EXPECT_THAT(result, Succeeded());
  return result.value_or(Strings());
}

Strings as_json(std::initializer_list<std::string_view> texts) {
  Strings documents;
  for (const std::string_view text : texts) documents.push_back(json(doc(text)));
  return documents;
}

Deadline past() {
  return std::chrono::steady_clock::now() - std::chrono::seconds(1);
}

TEST_P(StoreContract, Aggregate_GroupsByAnIndexedMatch) {
  create_index(R"({"state": 1})");
  for (int i = 0; i < 30; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "state": ")" + (i % 3 == 0 ? "NY" : "CA") +
           R"(", "n": )" + std::to_string(i) + "}");
  }
  const auto view = snapshot();
  EXPECT_EQ(must(aggregate(*collection(), *view,
                           R"([{"$match": {"state": "NY"}},
                               {"$group": {"_id": "$state", "sum": {"$sum": "$n"}}}])")),
            as_json({R"({"_id": "NY", "sum": 135})"}));
  EXPECT_EQ(must(aggregate(*collection(), *view,
                           R"([{"$sort": {"n": -1}}, {"$skip": 1}, {"$limit": 2},
                               {"$project": {"n": 1, "_id": 0}}])")),
            as_json({R"({"n": 28})", R"({"n": 27})"}));
  EXPECT_THAT(must(aggregate(*collection("missing"), *view, R"([{"$match": {}}])")), IsEmpty());
  EXPECT_THAT(aggregate(*collection(), *view, R"([{"$nosuch": {}}])"),
              FailedWith(ErrorCode{40324}));
}

TEST_P(StoreContract, Aggregate_TakesVariables) {
  insert(R"({"_id": 1, "n": 5})");
  insert(R"({"_id": 2, "n": 7})");
  const auto view = snapshot();
  const bson::Document variables = doc(R"({"limit": 6})");
  AggregateOptions options;
  options.variables = variables;
  EXPECT_EQ(must(aggregate(*collection(), *view,
                           R"([{"$match": {"$expr": {"$gt": ["$n", "$$limit"]}}},
                               {"$set": {"limit": "$$limit"}}])",
                           options)),
            as_json({R"({"_id": 2, "n": 7, "limit": 6})"}));
  FindOptions find;
  find.variables = variables;
  const bson::Document projection = doc(R"({"over": {"$subtract": ["$n", "$$limit"]}})");
  find.projection = projection;
  EXPECT_EQ(must(gather(
                collection()->find(*view, doc(R"({"$expr": {"$gt": ["$n", "$$limit"]}})"), find))),
            as_json({R"({"_id": 2, "over": 1})"}));
  EXPECT_EQ(*collection()->count(*view, doc(R"({"$expr": {"$lt": ["$n", "$$limit"]}})"),
                                 {.variables = variables}),
            1);
}

TEST_P(StoreContract, SetWindowFields_ComputesOverNeighbours) {
  create_index(R"({"state": 1, "year": 1})");
  insert(R"({"_id": 1, "state": "CA", "year": 2019, "n": 162})");
  insert(R"({"_id": 2, "state": "WA", "year": 2019, "n": 134})");
  insert(R"({"_id": 3, "state": "CA", "year": 2021, "n": 145})");
  insert(R"({"_id": 4, "state": "CA", "year": 2020, "n": 120.5})");
  insert(R"({"_id": 5, "state": "WA", "year": 2020})");
  const auto view = snapshot();
  EXPECT_EQ(must(aggregate(*collection(), *view,
                           R"([{"$setWindowFields": {
                                  "partitionBy": "$state", "sortBy": {"year": 1},
                                  "output": {"total": {"$sum": "$n", "window": {
                                               "documents": ["unbounded", "current"]}}}}},
                               {"$setWindowFields": {
                                  "partitionBy": "$state", "sortBy": {"year": 1},
                                  "output": {"around": {"$push": "$_id", "window": {
                                               "range": [-1, 1]}}}}},
                               {"$project": {"total": 1, "around": 1}}])")),
            as_json({R"({"_id": 1, "total": 162, "around": [1, 4]})",
                     R"({"_id": 4, "total": 282.5, "around": [1, 4, 3]})",
                     R"({"_id": 3, "total": 427.5, "around": [4, 3]})",
                     R"({"_id": 2, "total": 134, "around": [2, 5]})",
                     R"({"_id": 5, "total": 134, "around": [2, 5]})"}));
  EXPECT_THAT(aggregate(*collection(), *view,
                        R"([{"$setWindowFields": {"output": {"r": {"$rank": {}}}}}])"),
              FailedWith(ErrorCode{5371602}));
}

TEST_P(StoreContract, SetWindowFields_AnswersAsServersDo) {
  for (int i = 0; i < 8; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "s": )" + std::to_string(i * i % 7) +
           (i % 3 == 0 ? "" : R"(, "v": )" + std::to_string(i) + ".25") + "}");
  }
  const auto view = snapshot();
  // The results were taken from mongod 6.0.5. The contract suite over MongoDB's server verifies
  // them again.
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"$rank": {}})", "1,1,3,3,5,5,7,7"},
      {R"({"$denseRank": {}})", "1,1,2,2,3,3,4,4"},
      {R"({"$min": "$v", "window": {"range": [-1, 0]}})",
       "7.25,7.25,1.25,1.25,1.25,1.25,2.25,2.25"},
      {R"({"$avg": "$v", "window": {"documents": [-1, 1]}})",
       "7.25,4.25,4.25,1.25,4.25,3.25,3.9166666666666665,3.75"},
      {R"({"$count": {}, "window": {"range": [1, "unbounded"]}})", "6,6,4,4,2,2,0,0"},
      {R"({"$shift": {"output": "$_id", "by": 2, "default": -1}})", "1,6,3,4,2,5,-1,-1"},
  };
  for (const auto& [function, expected] : cases) {
    const Strings documents =
        must(aggregate(*collection(), *view,
                       R"([{"$sort": {"_id": 1}},
                           {"$setWindowFields": {"sortBy": {"s": 1}, "output": {"r": )" +
                           std::string(function) + R"(}}}, {"$group": {"_id": null, "r": {"$push":
                           "$r"}}}])"));
    EXPECT_EQ(documents, as_json({R"({"_id": null, "r": [)" + std::string(expected) + "]}"}))
        << function;
  }
}

TEST_P(StoreContract, Lookup_JoinsAnotherCollection) {
  insert(R"({"_id": 1, "item": "almonds"})", "orders");
  insert(R"({"_id": 2})", "orders");
  insert(R"({"_id": 1, "sku": "almonds", "stock": 120})", "inventory");
  insert(R"({"_id": 2, "sku": null})", "inventory");
  insert(R"({"_id": 3})", "inventory");
  create_index(R"({"sku": 1})", false, "", "inventory");
  const auto view = snapshot();
  EXPECT_EQ(must(aggregate(*collection("orders"), *view,
                           R"([{"$lookup": {"from": "inventory", "localField": "item",
                                            "foreignField": "sku", "as": "docs"}},
                               {"$sort": {"_id": 1}}])")),
            as_json({R"({"_id": 1, "item": "almonds",
                         "docs": [{"_id": 1, "sku": "almonds", "stock": 120}]})",
                     R"({"_id": 2, "docs": [{"_id": 2, "sku": null}, {"_id": 3}]})"}));
}

TEST_P(StoreContract, GraphLookup_FollowsReferences) {
  // The categories are a tree with references to parents. The results are the ancestors, nearest
  // first.
  insert(R"({"_id": "Books"})", "categories");
  insert(R"({"_id": "Programming", "parent": "Books"})", "categories");
  insert(R"({"_id": "Databases", "parent": "Programming"})", "categories");
  insert(R"({"_id": "MongoDB", "parent": "Databases"})", "categories");
  const auto view = snapshot();
  EXPECT_EQ(must(aggregate(*collection("categories"), *view,
                           R"([{"$match": {"_id": "MongoDB"}},
                               {"$graphLookup": {"from": "categories", "startWith": "$parent",
                                                 "connectFromField": "parent",
                                                 "connectToField": "_id", "as": "ancestors",
                                                 "depthField": "level"}},
                               {"$unwind": "$ancestors"}, {"$replaceRoot": {"newRoot": "$ancestors"}},
                               {"$sort": {"level": 1}}, {"$project": {"level": 1}}])")),
            as_json({R"({"_id": "Databases", "level": {"$numberLong": "0"}})",
                     R"({"_id": "Programming", "level": {"$numberLong": "1"}})",
                     R"({"_id": "Books", "level": {"$numberLong": "2"}})"}));
}

TEST_P(StoreContract, Out_ReplacesTheCollection_WithItsIndexes) {
  insert(R"({"_id": 1, "n": 1})");
  insert(R"({"_id": 2, "n": 2})");
  insert(R"({"_id": "old"})", "target");
  create_index(R"({"n": 1})", true, "", "target");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(aggregate(*collection(), transaction,
                                 R"([{"$match": {"n": 2}}, {"$out": "target"}])"));
                return {};
              }),
              Succeeded());
  EXPECT_EQ(find("{}", {}, "target"), as_json({R"({"_id": 2, "n": 2})"}));
  EXPECT_THAT(index_names("target"), ElementsAre("_id_", "n_1"));
  EXPECT_THAT(collection_names(), ElementsAre("c", "target"));
}

TEST_P(StoreContract, Out_ThatFails_LeavesTheCollection) {
  insert(R"({"_id": 1, "n": 1})");
  insert(R"({"_id": 2, "n": 1})");
  insert(R"({"_id": "old", "n": 3})", "target");
  create_index(R"({"n": 1})", true, "", "target");
  const auto transaction = begin();
  EXPECT_THAT(aggregate(*collection(), *transaction, R"([{"$out": "target"}])"),
              FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(transaction->commit(), Succeeded());
  EXPECT_EQ(find("{}", {}, "target"), as_json({R"({"_id": "old", "n": 3})"}));
  EXPECT_THAT(collection_names(), ElementsAre("c", "target"));
}

TEST_P(StoreContract, Out_NeedsATransaction) {
  insert(R"({"_id": 1})");
  const auto view = snapshot();
  EXPECT_THAT(aggregate(*collection(), *view, R"([{"$out": "target"}])"),
              FailedWith(ErrorCode::kIllegalOperation));
}

TEST_P(StoreContract, Merge_OnAUniqueIndexThatIsSparse) {
  insert(R"({"_id": 1, "key": "a", "n": 2})");
  insert(R"({"_id": 7, "key": "a", "n": 1})", "target");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                engine::IndexDefinition definition{"k", doc(R"({"key": 1})"), true};
                definition.sparse = true;
                return collection("target")->create_index(transaction, definition);
              }),
              Succeeded());
  EXPECT_THAT(
      commit([&](Transaction& transaction) -> Status {
        GM_TRY(aggregate(*collection(), transaction,
                         R"([{"$unset": "_id"}, {"$merge": {"into": "target", "on": "key"}}])"));
        return {};
      }),
      Succeeded());
  EXPECT_EQ(find("{}", {}, "target"), as_json({R"({"_id": 7, "key": "a", "n": 2})"}));
}

TEST_P(StoreContract, Merge_IntoAnotherCollectionAndIntoItself) {
  for (int i = 1; i <= 3; ++i) insert(R"({"_id": )" + std::to_string(i) + R"(, "n": 1})");
  insert(R"({"_id": 1, "kept": true})", "target");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(aggregate(*collection(), transaction, R"([{"$merge": "target"}])"));
                GM_TRY(aggregate(*collection(), transaction,
                                 R"([{"$set": {"_id": {"$add": ["$_id", 1]}, "n": 2}},
                                     {"$merge": {"into": "c"}}])"));
                return {};
              }),
              Succeeded());
  EXPECT_EQ(find("{}", {.sort = R"({"_id": 1})"}, "target"),
            as_json({R"({"_id": 1, "kept": true, "n": 1})", R"({"_id": 2, "n": 1})",
                     R"({"_id": 3, "n": 1})"}));
  EXPECT_EQ(find("{}", {.sort = R"({"_id": 1})"}),
            as_json({R"({"_id": 1, "n": 1})", R"({"_id": 2, "n": 2})", R"({"_id": 3, "n": 2})",
                     R"({"_id": 4, "n": 2})"}));
}

TEST_P(StoreContract, CollStatsAndIndexStats_TellWhatThereIs) {
  insert(R"({"_id": 1, "n": 1})");
  insert(R"({"_id": 2, "n": 2})");
  create_index(R"({"n": 1})");
  EXPECT_THAT(ids(R"({"n": 2})"), ElementsAre("2"));
  const auto view = snapshot();
  const Strings stats =
      must(aggregate(*collection(), *view, R"([{"$collStats": {"count": {}, "storageStats": {}}},
          {"$project": {"_id": 0, "ns": 1, "count": 1, "n": "$storageStats.count",
                        "size": "$storageStats.size", "indexes": "$storageStats.nindexes"}}])"));
  EXPECT_EQ(stats, as_json({R"({"ns": "test.c", "count": 2, "n": 2, "size": 42, "indexes": 2})"}));
  const Strings indexes =
      must(aggregate(*collection(), *view, R"([{"$indexStats": {}}, {"$sort": {"name": 1}},
          {"$project": {"name": 1, "key": 1, "used": {"$gte": ["$accesses.ops", 1]}}}])"));
  EXPECT_EQ(indexes, as_json({R"({"name": "_id_", "key": {"_id": 1}, "used": false})",
                              R"({"name": "n_1", "key": {"n": 1}, "used": true})"}));
}

// A scale is at most the greatest int32.
TEST_P(StoreContract, CollStats_ScaleOfAnySize_IsCut) {
  insert(R"({"_id": 1, "n": 1})");
  const auto view = snapshot();
  for (const char* const scale :
       {"1e300", R"({"$numberDouble": "Infinity"})", R"({"$numberLong": "9223372036854775807"})"}) {
    EXPECT_EQ(must(aggregate(*collection(), *view,
                             R"([{"$collStats": {"storageStats": {"scale": )" + std::string(scale) +
                                 R"(}}}, {"$project": {"_id": 0, "size": "$storageStats.size",
                                  "cut": {"$eq": ["$storageStats.scaleFactor", 2147483647]}}}])")),
              as_json({R"({"size": 0, "cut": true})"}))
        << scale;
  }
}

// Servers run $indexStats only outside of transactions.
TEST_P(StoreContract, IndexStats_InATransaction_AreThoseOfTheCollection) {
  insert(R"({"_id": 1, "n": 1})");
  create_index(R"({"n": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_ASSIGN(const auto stats, collection()->index_stats(transaction));
                EXPECT_EQ(stats.size(), 2U);
                return {};
              }),
              Succeeded());
}

TEST_P(StoreContract, Unsupported_LatencyStats_AreRefused) {
  insert(R"({"_id": 1})");
  EXPECT_THAT(aggregate(*collection(), *snapshot(), R"([{"$collStats": {"latencyStats": {}}}])"),
              FailedWith(ErrorCode::kCommandNotSupported));
}

TEST_P(StoreContract, Aggregate_BoundsMemory) {
  GM_NEEDS(memory_limits);
  for (int i = 0; i < 50; ++i) insert(R"({"_id": )" + std::to_string(i) + "}");
  AggregateOptions little;
  little.memory_bytes_max = 100;
  EXPECT_THAT(aggregate(*collection(), *snapshot(), R"([{"$group": {"_id": "$_id"}}])", little),
              FailedWith(ErrorCode::kQueryExceededMemoryLimit));
}

TEST_P(StoreContract, Aggregate_BoundsTime) {
  for (int i = 0; i < 50; ++i) insert(R"({"_id": )" + std::to_string(i) + "}");
  const auto view = snapshot();
  AggregateOptions late;
  late.deadline = past();
  EXPECT_THAT(aggregate(*collection(), *view, R"([{"$group": {"_id": "$_id"}}])", late),
              FailedWith(ErrorCode::kMaxTimeMsExpired));
  FindOptions find;
  find.deadline = past();
  EXPECT_THAT(gather(collection()->find(*view, doc(R"({"x": 1})"), find)),
              FailedWith(ErrorCode::kMaxTimeMsExpired));
  EXPECT_THAT(collection()->count(*view, doc(R"({"x": 1})"), {.deadline = past()}),
              FailedWith(ErrorCode::kMaxTimeMsExpired));
  EXPECT_THAT(collection()->distinct(*view, "x", bson::View(), {.deadline = past()}),
              FailedWith(ErrorCode::kMaxTimeMsExpired));
}

TEST_P(StoreContract, Count_SkipsAndLimits) {
  for (int i = 0; i < 10; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "n": )" + std::to_string(i % 2) + "}");
  }
  const auto view = snapshot();
  const auto count = [&](std::string_view filter, const CountOptions& options) {
    return *collection()->count(*view, doc(filter), options);
  };
  EXPECT_EQ(count("{}", {.skip = 3}), 7);
  EXPECT_EQ(count("{}", {.skip = 3, .limit = 2}), 2);
  EXPECT_EQ(count("{}", {.skip = 30, .limit = 2}), 0);
  EXPECT_EQ(count(R"({"n": 1})", {.skip = 1}), 4);
  EXPECT_EQ(count(R"({"n": 1})", {.skip = 4, .limit = 3}), 1);
  EXPECT_EQ(count(R"({"n": 1})", {.limit = 3}), 3);
  EXPECT_THAT(collection()->count(*view, bson::View(), {.skip = -1}), FailedWith(ErrorCode{51024}));
  EXPECT_THAT(collection()->count(*view, bson::View(), {.hint = bson::Value("nosuch")}),
              FailedWith(ErrorCode::kBadValue));
}

TEST_P(StoreContract, Distinct_GivesEachValueOnce) {
  insert(R"({"_id": 1, "a": 1, "b": {"c": "x"}})");
  insert(R"({"_id": 2, "a": 1.0, "b": [{"c": "y"}, {"c": ["z", "x"]}]})");
  insert(R"({"_id": 3, "a": [2, 1, [3]]})");
  insert(R"({"_id": 4, "a": null})");
  const auto view = snapshot();
  const auto distinct = [&](std::string_view path, std::string_view filter = "{}") {
    const auto values = collection()->distinct(*view, path, doc(filter));
    EXPECT_THAT(values, Succeeded());
    bson::Builder shown;
    bson::Builder& list = shown.open_array("v");
    for (const bson::Value& value : *values) list.push(value.view());
    list.close();
    return json(std::move(shown).finish());
  };
  EXPECT_EQ(distinct("a"), json(doc(R"({"v": [null, 1, 2, [3]]})")));
  EXPECT_EQ(distinct("a", R"({"_id": {"$lt": 3}})"), json(doc(R"({"v": [1]})")));
  EXPECT_EQ(distinct("b.c"), json(doc(R"({"v": ["x", "y", "z"]})")));
  EXPECT_EQ(distinct("b.1.c"), json(doc(R"({"v": ["x", "z"]})")));
  EXPECT_EQ(distinct("nosuch"), json(doc(R"({"v": []})")));
  const auto refused = [&](std::string_view path) {
    return static_cast<int>(collection()->distinct(*view, path, bson::View()).error().code());
  };
  EXPECT_EQ(refused(""), 40352);
  EXPECT_EQ(refused("a."), 40353);
  EXPECT_EQ(refused("a..b"), 15998);
  EXPECT_EQ(refused("a.$b"), 16410);
}

// Distinct by an index returns the same values as distinct by the documents. Some values are equal
// to values of other types, long, null, missing, or cannot be read back from an index entry.
TEST_P(StoreContract, Distinct_ByAnIndexIsWhatTheDocumentsHave) {
  const std::string long_text(600, 'x');
  const std::vector<std::string> values = {
      "1",
      "1.0",
      R"({"$numberLong": "1"})",
      R"({"$numberDecimal": "1"})",
      "-0.0",
      "0",
      "null",
      R"({"$numberDouble": "NaN"})",
      R"("short")",
      "\"" + long_text + "a\"",
      "\"" + long_text + "b\"",
      R"({"sub": 1})",
      R"({"$numberLong": "9007199254740993"})",
      "true",
      R"({"$date": {"$numberLong": "5"}})",
      R"({"$minKey": 1})",
      R"({"$maxKey": 1})",
  };
  int id = 0;
  const auto insert_value = [&](const std::string& value) {
    insert(R"({"_id": )" + std::to_string(id) + R"(, "b": )" + std::to_string(id % 5) +
           R"(, "n": {"v": )" + value + R"(}, "a": )" + value + "}");
    ++id;
  };
  for (int round = 0; round < 12; ++round) {
    insert(R"({"_id": )" + std::to_string(id++) + R"(, "b": 1})");
    for (const std::string& value : values) insert_value(value);
  }
  const auto distinct = [&](std::string_view path, std::string_view filter, bool by_documents) {
    const auto view = snapshot();
    const bson::Document natural = doc(R"({"$natural": 1})");
    DistinctOptions options;
    if (by_documents) options.hint = bson::Value(natural.view());
    auto found = collection()->distinct(*view, path, doc(filter), options);
    EXPECT_THAT(found, Succeeded());
    return std::move(found).value_or(std::vector<bson::Value>());
  };
  // The order of reading decides which of several equal values is returned.
  const auto is_equal = [](const bson::Value& a, const bson::Value& b) {
    return bson::compare(a.view(), b.view()) == 0;
  };
  const auto compare = [&](const std::string& index) {
    SCOPED_TRACE(index);
    create_index(index);
    for (const std::string_view path : {"a", "n.v", "b", "_id", "n"}) {
      for (const std::string& filter :
           Strings{"{}", R"({"a": {"$gte": 0}})", R"({"a": null})", R"({"a": {"$in": [0, 1, 2]}})",
                   R"({"a": 1, "b": {"$gt": 1}})", R"({"b": {"$lt": 3}})",
                   R"({"n.v": {"$gt": "a"}})"}) {
        const auto found = distinct(path, filter, false);
        const auto expected = distinct(path, filter, true);
        EXPECT_TRUE(
            std::equal(found.begin(), found.end(), expected.begin(), expected.end(), is_equal))
            << path << " of " << filter << ": " << found.size() << " for " << expected.size();
      }
    }
  };
  compare(R"({"a": 1})");
  compare(R"({"n.v": -1})");
  compare(R"({"b": -1, "a": 1})");
  compare(R"({"a": -1, "b": 1})");
  // With arrays, the index holds their elements.
  insert_value("[1, [2], []]");
  insert_value("[]");
  compare(R"({"a": 1, "c": 1})");
}

class Views {
 public:
  explicit Views(std::function<Status(std::string_view, std::string_view)> create)
      : create_(std::move(create)) {}
  Status make(std::string_view name, std::string_view options) { return create_(name, options); }

 private:
  std::function<Status(std::string_view, std::string_view)> create_;
};

#define VIEWS_OF_TEST()                                                                           \
  Views views([this](std::string_view name, std::string_view options) {                           \
    return commit(                                                                                \
        [&](Transaction& transaction) { return db()->create(transaction, name, doc(options)); }); \
  })

TEST_P(StoreContract, View_AnswersEveryRead) {
  VIEWS_OF_TEST();
  for (int i = 1; i <= 5; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "n": )" + std::to_string(i * 10) + "}");
  }
  ASSERT_THAT(views.make("big", R"({"viewOn": "c", "pipeline": [{"$match": {"n": {"$gt": 20}}},
                                      {"$project": {"twice": {"$multiply": ["$n", 2]}}}]})"),
              Succeeded());
  ASSERT_THAT(views.make("biggest", R"({"viewOn": "big", "pipeline": [{"$sort": {"twice": -1}},
                                          {"$limit": 2}]})"),
              Succeeded());
  EXPECT_EQ(find(R"({"twice": {"$lt": 100}})", {.sort = R"({"twice": -1})"}, "big"),
            as_json({R"({"_id": 4, "twice": 80})", R"({"_id": 3, "twice": 60})"}));
  EXPECT_EQ(find("{}", {.projection = R"({"_id": 1})", .skip = 1}, "biggest"),
            as_json({R"({"_id": 4})"}));
  EXPECT_EQ(count("{}", "big"), 3);
  const auto view = snapshot();
  EXPECT_THAT(*collection("big")->distinct(*view, "twice", bson::View()), SizeIs(3));
  EXPECT_EQ(must(aggregate(*collection("biggest"), *view,
                           R"([{"$group": {"_id": null, "sum": {"$sum": "$twice"}}}])")),
            as_json({R"({"_id": null, "sum": 180})"}));
  EXPECT_EQ(must(aggregate(*collection(), *view,
                           R"([{"$match": {"_id": 5}},
                               {"$lookup": {"from": "big", "localField": "_id",
                                            "foreignField": "_id", "as": "v"}}])")),
            as_json({R"({"_id": 5, "n": 50, "v": [{"_id": 5, "twice": 100}]})"}));
}

TEST_P(StoreContract, View_RefusesWhatOnlyStoredCollectionsHave) {
  VIEWS_OF_TEST();
  insert(R"({"_id": 1})");
  ASSERT_THAT(views.make("v", R"({"viewOn": "c", "pipeline": []})"), Succeeded());
  const auto view = snapshot();
  FindOptions tailable;
  tailable.tailable = true;
  EXPECT_THAT(collection("v")->find(*view, bson::View(), tailable),
              FailedWith(ErrorCode::kInvalidPipelineOperator));
}

TEST_P(StoreContract, Unsupported_NaturalOrderOfAView_IsRefused) {
  VIEWS_OF_TEST();
  insert(R"({"_id": 1})");
  ASSERT_THAT(views.make("v", R"({"viewOn": "c", "pipeline": []})"), Succeeded());
  const auto view = snapshot();
  EXPECT_THAT(try_find(*view, "{}", {.sort = R"({"$natural": -1})"}, "v"),
              FailedWith(ErrorCode::kBadValue));
}

TEST_P(StoreContract, View_RefusesWrites) {
  VIEWS_OF_TEST();
  insert(R"({"_id": 1})");
  ASSERT_THAT(views.make("v", R"({"viewOn": "c", "pipeline": []})"), Succeeded());
  const auto refused = FailedWith(ErrorCode::kCommandNotSupportedOnView);
  const bson::Document document = doc(R"({"_id": 5})");
  // A failed write may end the transaction.
  EXPECT_THAT(collection("v")->insert(*begin(), document), refused);
  EXPECT_THAT(collection("v")->update(*begin(), bson::View(), doc(R"({"$set": {"a": 1}})")),
              refused);
  EXPECT_THAT(collection("v")->remove(*begin(), bson::View(), true), refused);
  EXPECT_THAT(collection("v")->find_and_modify(*begin(), bson::View(), document, {}), refused);
  EXPECT_THAT(collection("v")->create_index(*begin(), {"a_1", doc(R"({"a": 1})"), false}), refused);
  EXPECT_THAT(collection("v")->create_index(*begin(), {"_id_", doc(R"({"_id": 1})"), false}),
              refused);
  EXPECT_THAT(collection("v")->drop_index(*begin(), "a_1"), refused);
  EXPECT_THAT(aggregate(*collection(), *begin(), R"([{"$out": "v"}])"), refused);
  EXPECT_THAT(aggregate(*collection(), *begin(), R"([{"$merge": "v"}])"), refused);
}

TEST_P(StoreContract, View_ThatCannotWork_IsNotMade) {
  VIEWS_OF_TEST();
  EXPECT_THAT(views.make("v", R"({"viewOn": "c", "pipeline": [{"$nosuch": 1}]})"),
              FailedWith(ErrorCode{40324}));
  EXPECT_THAT(views.make("v", R"({"viewOn": "v", "pipeline": []})"), FailedWith(ErrorCode{5}));
  EXPECT_THAT(views.make("w", R"({"viewOn": "v", "pipeline": []})"), Succeeded());
  EXPECT_THAT(views.make("v", R"({"viewOn": "w", "pipeline": []})"), FailedWith(ErrorCode{5}));
  std::string below = "c";
  for (int i = 0; i < 20; ++i) {
    const std::string name = "deep" + std::to_string(i);
    ASSERT_THAT(views.make(name, R"({"viewOn": ")" + below + R"(", "pipeline": []})"), Succeeded());
    below = name;
  }
  EXPECT_THAT(views.make("deep20", R"({"viewOn": ")" + below + R"(", "pipeline": []})"),
              FailedWith(ErrorCode{165}));
  EXPECT_EQ(count("{}", "deep18"), 0);
  EXPECT_THAT(
      commit([&](Transaction& transaction) -> Status {
        GM_TRY(db()->modify(transaction, "deep0", doc(R"({"viewOn": "deep5", "pipeline": []})")));
        return {};
      }),
      FailedWith(ErrorCode{5}));
}

// A view can lead back to itself by the collections that it joins, and by the collection it is on.
TEST_P(StoreContract, View_ThatReadsItself_IsNotMade) {
  VIEWS_OF_TEST();
  const auto reading = [](const std::string& stage) {
    return R"({"viewOn": "c", "pipeline": [)" + stage + "]}";
  };
  const auto lookup = [](const std::string& from) {
    return R"({"$lookup": {"from": ")" + from + R"(", "pipeline": [], "as": "x"}})";
  };
  EXPECT_THAT(views.make("v", reading(lookup("v"))), FailedWith(ErrorCode{5}));
  EXPECT_THAT(views.make("v", reading(R"({"$unionWith": "v"})")), FailedWith(ErrorCode{5}));
  EXPECT_THAT(views.make("v", reading(R"({"$facet": {"f": [)" + lookup("v") + "]}}")),
              FailedWith(ErrorCode{5}));
  EXPECT_THAT(views.make("v", reading(R"({"$graphLookup": {"from": "v", "startWith": 1, "as": "x",
                                          "connectFromField": "a", "connectToField": "b"}})")),
              FailedWith(ErrorCode{5}));
  EXPECT_THAT(views.make("v", reading(R"({"$lookup": {"from": "c", "as": "x", "pipeline": [)" +
                                      lookup("v") + "]}}")),
              FailedWith(ErrorCode{5}));
  ASSERT_THAT(views.make("w", reading(R"({"$unionWith": "v"})")), Succeeded());
  EXPECT_THAT(views.make("v", reading(lookup("w"))), FailedWith(ErrorCode{5}));
  ASSERT_THAT(views.make("v", reading("")), Succeeded());
  EXPECT_THAT(
      commit([&](Transaction& transaction) -> Status {
        GM_TRY(db()->modify(transaction, "v", doc(R"({"pipeline": [)" + lookup("w") + "]}")));
        return {};
      }),
      FailedWith(ErrorCode{5}));
  insert(R"({"_id": 1})");
  EXPECT_EQ(count("{}", "w"), 2);
}

// The store reads each view while it reads the view above.
TEST_P(StoreContract, Views_ThatReadOneAnotherDeeply_AreRefused) {
  VIEWS_OF_TEST();
  insert(R"({"_id": 1})");
  std::string below = "c";
  for (int i = 0; i < 100; ++i) {
    const std::string name = "v" + std::to_string(i);
    ASSERT_THAT(
        views.make(name, R"({"viewOn": "c", "pipeline": [{"$unionWith": ")" + below + R"("}]})"),
        Succeeded());
    below = name;
  }
  const auto count_of = [&](const std::string& view) {
    const auto transaction = begin();
    return aggregate(*db()->collection(view), *transaction, R"([{"$count": "n"}])");
  };
  EXPECT_THAT(count_of("v20"), Succeeded());
  EXPECT_THAT(count_of("v99"), FailedWith(ErrorCode{232}));
}

// Source: MongoDB 2.4 manual, "System Collections".
TEST_P(StoreContract, SystemCollections_ShowTheCatalog) {
  insert(R"({"_id": 1})");
  create_index(R"({"a": 1})", true);
  EXPECT_EQ(
      find(R"({"name": {"$regex": "^test\\.c"}})", {.sort = R"({"name": 1})"}, "system.namespaces"),
      as_json(
          {R"({"name": "test.c"})", R"({"name": "test.c.$_id_"})", R"({"name": "test.c.$a_1"})"}));
  EXPECT_EQ(
      find(R"({"ns": "test.c", "unique": true})", {.projection = R"({"v": 0})"}, "system.indexes"),
      as_json({R"({"key": {"a": 1}, "ns": "test.c", "name": "a_1", "unique": true})"}));
  EXPECT_EQ(count("{}", "system.indexes"), 2);
  EXPECT_EQ(count("{}", "system.views"), 0);
  VIEWS_OF_TEST();
  ASSERT_THAT(views.make("v", R"({"viewOn": "c", "pipeline": [{"$match": {"a": 1}}]})"),
              Succeeded());
  EXPECT_EQ(find("{}", {}, "system.views"),
            as_json({R"({"_id": "test.v", "viewOn": "c", "pipeline": [{"$match": {"a": 1}}]})"}));
  EXPECT_THAT(try_insert("{}", "system.indexes"), FailedWith(ErrorCode::kInvalidNamespace));
  const auto view = snapshot();
  EXPECT_THAT(try_find(*view, "{}", {.hint = bson::Value("_id_")}, "system.indexes"),
              FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(
      collection("system.indexes")->explain(*view, bson::View(), {}, Verbosity::kQueryPlanner),
      FailedWith(ErrorCode::kCommandNotSupported));
  EXPECT_THAT(collection_names(), ElementsAre("c", "v"));
}

}  // namespace
}  // namespace gridmount::engine
