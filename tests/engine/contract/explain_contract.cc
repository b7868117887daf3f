// Goal: explain reports the plan that a query gets, and the stats of running it.
// Source: MongoDB manual, "Explain Results", "Query Plans".
#include <algorithm>

#include "tests/engine/contract/reference.h"
#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns the names of the stages from the last to the source, and a description of the index that
// is read.
std::string stages_of(bson::View stage) {
  std::string stages(stage["stage"].as_string());
  if (const auto name = stage.find("indexName"))
    stages += "(" + std::string(name->as_string()) + ")";
  if (const auto input = stage.find("inputStage")) stages += " " + stages_of(input->as_document());
  if (const auto inputs = stage.find("inputStages")) {
    for (const bson::Element input : inputs->as_document()) {
      stages += " [" + stages_of(input.value.as_document()) + "]";
    }
  }
  return stages;
}

struct Explained {
  std::string plan;
  int64_t returned = 0;
  int64_t keys = 0;
  int64_t documents = 0;
  size_t rejected = 0;
};

Explained read(bson::View explanation) {
  const bson::View planner = explanation["queryPlanner"].as_document();
  Explained read;
  read.plan = stages_of(planner["winningPlan"].as_document());
  const bson::View rejected = planner["rejectedPlans"].as_document();
  read.rejected = static_cast<size_t>(std::distance(rejected.begin(), rejected.end()));
  if (const auto stats = explanation.find("executionStats")) {
    const bson::View execution = stats->as_document();
    read.returned = *execution["nReturned"].integral();
    read.keys = *execution["totalKeysExamined"].integral();
    read.documents = *execution["totalDocsExamined"].integral();
  }
  return read;
}

class Explaining {
 public:
  Explaining(std::unique_ptr<Collection> collection, std::unique_ptr<Snapshot> snapshot)
      : collection_(std::move(collection)), snapshot_(std::move(snapshot)) {}

  Explained operator()(std::string_view filter, const Find& find = {}) {
    FindOptions options;
    const bson::Document sort = doc(find.sort.empty() ? "{}" : find.sort);
    const bson::Document projection = doc(find.projection.empty() ? "{}" : find.projection);
    options.sort = sort;
    options.projection = projection;
    options.skip = find.skip;
    options.limit = find.limit;
    options.hint = find.hint;
    options.distinct_path = distinct_path_;
    const auto explained =
        collection_->explain(*snapshot_, doc(filter), options, Verbosity::kExecutionStats);
    EXPECT_THAT(explained, Succeeded());
    return explained ? read(*explained) : Explained();
  }
  // From now on explains the query for the distinct values at the path.
  Explaining& distinct(std::string_view path) {
    distinct_path_ = path;
    return *this;
  }
  std::string text(std::string_view filter) {
    return json(*collection_->explain(*snapshot_, doc(filter), {}, Verbosity::kQueryPlanner));
  }

 private:
  std::unique_ptr<Collection> collection_;
  std::unique_ptr<Snapshot> snapshot_;
  std::string_view distinct_path_;
};

// A look-up by _id needs no sort. With options that such a look-up does not support, servers sort
// the document.
TEST_P(StoreContract, Explain_SortOfOneDocument) {
  insert(R"({"_id": 1, "n": 1, "a": [1, 2], "b": [1, 2]})");
  Explaining explain(collection(), snapshot());
  const std::string by_n = R"({"n": 1})";
  EXPECT_EQ(explain(R"({"_id": 1})", {.sort = by_n}).plan, "IDHACK");
  EXPECT_EQ(explain(R"({"_id": 1})", {.sort = by_n, .limit = 1}).plan, "IDHACK");
  EXPECT_EQ(explain(R"({"_id": 1})", {.sort = by_n, .skip = 1}).plan,
            "SKIP SORT FETCH IXSCAN(_id_)");
  EXPECT_EQ(explain(R"({"_id": 1})", {.sort = by_n, .hint = bson::Value("_id_")}).plan,
            "SORT FETCH IXSCAN(_id_)");
  EXPECT_EQ(explain(R"({"_id": {"$eq": 1}})", {.sort = by_n, .limit = 1}).plan,
            "SORT FETCH IXSCAN(_id_)");
  EXPECT_EQ(explain(R"({"_id": {"$in": [1]}})", {.sort = by_n}).plan, "SORT FETCH IXSCAN(_id_)");
  // In these cases, a document that cannot be sorted is an error.
  const std::string by_arrays = R"({"a": 1, "b": 1})";
  const auto view = snapshot();
  EXPECT_THAT(try_find(*view, R"({"_id": 1})", {.sort = by_arrays}), Succeeded());
  EXPECT_THAT(try_find(*view, R"({"_id": 1})", {.sort = by_arrays, .skip = 1}),
              FailedWith(ErrorCode::kBadValue));
  FindAndModifyOptions first;
  const bson::Document sort = doc(by_arrays);
  first.sort = sort;
  EXPECT_THAT(collection()->find_and_modify(*begin(), doc(R"({"_id": 1})"),
                                            doc(R"({"$set": {"n": 2}})"), first),
              Succeeded());
}

// The scan takes one step for each value, whatever the number of documents that have the value.
TEST_P(StoreContract, Explain_DistinctPassesOverEqualEntries) {
  for (int i = 0; i < 2000; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i % 4) + R"(, "b": )" +
           std::to_string(i) + "}");
  }
  create_index(R"({"a": 1, "b": 1})");
  Explaining explain(collection(), snapshot());
  const Explained all = explain.distinct("a")("{}");
  EXPECT_EQ(all.plan, "PROJECTION_COVERED DISTINCT_SCAN(a_1_b_1)");
  EXPECT_EQ(all.returned, 4);
  EXPECT_LE(all.keys, 50);
  EXPECT_EQ(all.documents, 0);
  const Explained some = explain(R"({"a": {"$gte": 2}})");
  EXPECT_EQ(some.plan, "PROJECTION_COVERED DISTINCT_SCAN(a_1_b_1)");
  EXPECT_EQ(some.returned, 2);
  EXPECT_EQ(explain(R"({"a": 1, "b": {"$gte": 5}})").plan, "IXSCAN(a_1_b_1)");  // covered
  EXPECT_EQ(explain(R"({"c": 1})").plan, "COLLSCAN");
  EXPECT_EQ(explain.distinct("b")("{}").plan, "COLLSCAN");
  const Explained ids = explain.distinct("_id")("{}");
  EXPECT_EQ(ids.plan, "PROJECTION_COVERED DISTINCT_SCAN(_id_)");
  EXPECT_EQ(ids.keys, 2000);
}

// The explanation fails as the query would.
TEST_P(StoreContract, Explain_DistinctWithAHintThatNamesNoIndex_Fails) {
  insert(R"({"_id": 1, "a": 1})");
  const std::unique_ptr<Collection> documents = collection();
  const std::unique_ptr<Snapshot> now = snapshot();
  FindOptions options;
  options.distinct_path = "a";
  options.hint = bson::Value("nosuch");
  EXPECT_FALSE(documents->explain(*now, doc("{}"), options, Verbosity::kQueryPlanner));
}

TEST_P(StoreContract, Explain_NamesStagesAndCounts) {
  for (int i = 0; i < 40; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i % 4) + R"(, "b": )" +
           std::to_string(i) + "}");
  }
  create_index(R"({"a": 1, "b": -1})");
  Explaining explain(collection(), snapshot());
  const auto expect = [](const Explained& got, std::string_view plan, int64_t returned,
                         int64_t keys, int64_t documents) {
    EXPECT_EQ(got.plan, plan);
    EXPECT_EQ(got.returned, returned) << plan;
    EXPECT_EQ(got.keys, keys) << plan;
    EXPECT_EQ(got.documents, documents) << plan;
  };
  expect(explain("{}"), "COLLSCAN", 40, 0, 40);
  expect(explain(R"({"c": 1})"), "COLLSCAN", 0, 0, 40);
  expect(explain(R"({"a": 1})"), "FETCH IXSCAN(a_1_b_-1)", 10, 10, 10);
  expect(explain(R"({"a": 1, "c": null})"), "FETCH IXSCAN(a_1_b_-1)", 10, 10, 10);
  expect(explain(R"({"_id": 5})"), "IDHACK", 1, 1, 1);
  expect(explain(R"({"_id": 5})", {.projection = R"({"_id": 1})"}), "PROJECTION_SIMPLE IDHACK", 1,
         1, 1);
  expect(explain(R"({"_id": 5})", {.projection = R"({"b": 0})"}), "PROJECTION_DEFAULT IDHACK", 1, 1,
         1);
  expect(explain(R"({"a": 1})", {.sort = R"({"b": -1})", .limit = 3}),
         "LIMIT FETCH IXSCAN(a_1_b_-1)", 3, 3, 3);
  expect(explain(R"({"c": null})",
                 {.sort = R"({"b": 1})", .projection = R"({"b": 1})", .skip = 2, .limit = 3}),
         "PROJECTION_SIMPLE SKIP SORT COLLSCAN", 3, 0, 40);
  // A skip of documents that match by their index entries reads no documents, as on servers.
  expect(explain(R"({"a": 1})", {.sort = R"({"b": -1})", .skip = 5, .limit = 2}),
         "LIMIT FETCH SKIP IXSCAN(a_1_b_-1)", 2, 7, 2);
  expect(explain(R"({"a": 1})", {.skip = 50}), "FETCH SKIP IXSCAN(a_1_b_-1)", 0, 10, 0);
  expect(explain(R"({"a": 1, "b": {"$mod": [8, 1]}})", {.skip = 2}), "FETCH SKIP IXSCAN(a_1_b_-1)",
         3, 10, 3);
  expect(explain(R"({"a": 1, "c": null})", {.skip = 5}), "SKIP FETCH IXSCAN(a_1_b_-1)", 5, 10, 10);
  expect(explain(R"({"a": 1})", {.projection = R"({"_id": 0, "b": 1})", .skip = 5}),
         "PROJECTION_COVERED SKIP IXSCAN(a_1_b_-1)", 5, 10, 0);
  expect(explain(R"({"$or": [{"a": 1}, {"_id": 0}]})", {.skip = 4}),
         "FETCH SKIP OR [IXSCAN(a_1_b_-1)] [IXSCAN(_id_)]", 7, 11, 7);
  expect(explain(R"({"$or": [{"a": 1}, {"_id": 0}]})"),
         "FETCH OR [IXSCAN(a_1_b_-1)] [IXSCAN(_id_)]", 11, 11, 11);
  expect(explain(R"({"a": 1})", {.hint = bson::Value("_id_")}), "FETCH IXSCAN(_id_)", 10, 40, 40);
  EXPECT_THAT(explain.text(R"({"a": 1, "b": {"$gte": 5, "$lt": 9}})"),
              HasSubstr(json(doc(R"({"a": ["[1, 1]"], "b": ["(9, 5]"]})"))));
  Explaining missing(collection("missing"), snapshot());
  expect(missing("{}"), "EOF", 0, 0, 0);
}

// Values that differ from run to run are not compared.
TEST_P(StoreContract, Explain_StagesReadAsServersWriteThem) {
  for (int i = 0; i < 6; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i % 2) + R"(, "b": )" +
           std::to_string(i) + R"(, "s": "x"})");
  }
  create_index(R"({"a": 1, "b": -1})");
  const auto view = snapshot();
  const auto explained = [&](std::string_view filter, const FindOptions& options = {}) {
    return *collection()->explain(*view, doc(filter), options, Verbosity::kExecutionStats);
  };
  const auto winning = [&](std::string_view filter) {
    return json(
        explained(filter).view()["queryPlanner"].as_document()["winningPlan"].as_document());
  };
  const auto bounds = [&](std::string_view filter) {
    const bson::Document document = explained(filter);
    const bson::View fetch =
        document.view()["queryPlanner"].as_document()["winningPlan"].as_document();
    return json(fetch["inputStage"].as_document()["indexBounds"].as_document());
  };
  EXPECT_EQ(winning(R"({"_id": 5})"), json(doc(R"({"stage": "IDHACK"})")));
  EXPECT_EQ(bounds(R"({"a": {"$gt": 2}})"),
            json(doc(R"({"a": ["(2, inf.0]"], "b": ["[MaxKey, MinKey]"]})")));
  EXPECT_EQ(bounds(R"({"a": {"$lte": 5.0}, "b": {"$gte": "x"}})"),
            json(doc(R"({"a": ["[-inf.0, 5.0]"], "b": ["({}, \"x\"]"]})")));
  EXPECT_EQ(bounds(R"({"a": {"$date": "1970-01-01T00:00:01Z"},
                       "b": {"$oid": "65a000000000000000000001"}})"),
            json(doc(R"({"a": ["[new Date(1000), new Date(1000)]"],
                         "b": ["[ObjectId('65a000000000000000000001'), ObjectId('65a000000000000000000001')]"]})")));
  // The filter holds only what the bounds do not express.
  EXPECT_THAT(winning(R"({"a": 1, "b": {"$gt": 2}})"), Not(HasSubstr("filter")));
  EXPECT_THAT(winning(R"({"a": 1, "s": "x"})"),
              HasSubstr(R"("filter" : { "s" : { "$eq" : "x" } })"));
  EXPECT_THAT(winning(R"({"s": "x"})"), HasSubstr(R"("filter" : { "s" : { "$eq" : "x" } })"));

  const bson::Document of_range = explained(R"({"a": 1, "s": "x"})");
  const bson::View planner = of_range.view()["queryPlanner"].as_document();
  EXPECT_EQ(json(planner["parsedQuery"].as_document()),
            json(doc(R"({"$and": [{"a": {"$eq": 1}}, {"s": {"$eq": "x"}}]})")));
  EXPECT_EQ(planner["queryHash"].as_string().size(), 8U);
  EXPECT_EQ(planner["planCacheKey"].as_string().size(), 8U);
  const bson::Document other_values = explained(R"({"s": "y", "a": 7})");
  const bson::View alike = other_values.view()["queryPlanner"].as_document();
  EXPECT_EQ(alike["queryHash"].as_string(), planner["queryHash"].as_string());
  EXPECT_EQ(alike["planCacheKey"].as_string(), planner["planCacheKey"].as_string());
  const bson::View fetch =
      of_range.view()["executionStats"].as_document()["executionStages"].as_document();
  EXPECT_THAT(json(fetch), HasSubstr(R"("nReturned" : 3, "executionTimeMillisEstimate" : )"));
  EXPECT_THAT(json(fetch), HasSubstr(R"("works" : 4, "advanced" : 3, "needTime" : 0, )"
                                     R"("needYield" : 0, "saveState" : 0, "restoreState" : 0, )"
                                     R"("isEOF" : 1, "docsExamined" : 3)"));
  EXPECT_THAT(json(fetch["inputStage"].as_document()),
              HasSubstr(R"("multiKeyPaths" : { "a" : [  ], "b" : [  ] }, "isUnique" : false, )"
                        R"("isSparse" : false, "isPartial" : false, "indexVersion" : 2)"));
  EXPECT_THAT(json(fetch["inputStage"].as_document()),
              HasSubstr(R"("keysExamined" : 3, "seeks" : 1, "dupsTested" : 0, "dupsDropped" : 0)"));

  // A sort keeps only as many entries as skip and limit need. After the limit, no more documents
  // are read.
  const bson::Document sort = doc(R"({"b": -1})");
  FindOptions sorted;
  sorted.sort = sort;
  sorted.skip = 1;
  sorted.limit = 2;
  const bson::Document of_sort = explained(R"({"s": "x"})", sorted);
  const bson::View skip =
      of_sort.view()["executionStats"].as_document()["executionStages"].as_document();
  EXPECT_EQ(stages_of(skip), "SKIP SORT COLLSCAN");
  EXPECT_THAT(json(skip), HasSubstr(R"("works" : 11, "advanced" : 2, "needTime" : 8)"));
  EXPECT_THAT(json(skip), HasSubstr(R"("limitAmount" : 3, "type" : "simple")"));
  EXPECT_THAT(json(skip), HasSubstr(R"("usedDisk" : false)"));
  FindOptions limited;
  limited.limit = 2;
  const bson::Document of_limit = explained("{}", limited);
  const bson::View limit =
      of_limit.view()["executionStats"].as_document()["executionStages"].as_document();
  EXPECT_THAT(json(limit), HasSubstr(R"("works" : 3, "advanced" : 2, "needTime" : 0)"));
  EXPECT_THAT(json(limit["inputStage"].as_document()),
              HasSubstr(R"("works" : 2, "advanced" : 2, "needTime" : 0)"));
}

TEST_P(StoreContract, Explain_CountsReadWhatCountsRead) {
  for (int i = 0; i < 6; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i % 2) + R"(, "b": )" +
           std::to_string(i) + R"(, "tags": ["x", "y"]})");
  }
  create_index(R"({"a": 1, "b": -1})");
  create_index(R"({"tags": 1})");
  const auto view = snapshot();
  const auto stages = [&](std::string_view filter, const CountOptions& options = {}) {
    const bson::Document explained =
        *collection()->explain_count(*view, doc(filter), options, Verbosity::kExecutionStats);
    const Explained told = read(explained);
    const bson::View stats = explained.view()["executionStats"].as_document();
    EXPECT_EQ(told.returned, 0);
    return told.plan + " of " + std::to_string(told.keys) + " and " +
           std::to_string(told.documents) + ": " +
           std::to_string(*stats["executionStages"].as_document()["nCounted"].integral());
  };
  EXPECT_EQ(stages("{}"), "RECORD_STORE_FAST_COUNT of 0 and 0: 6");
  EXPECT_EQ(stages("{}", {.skip = 4, .limit = 5}), "RECORD_STORE_FAST_COUNT of 0 and 0: 2");
  EXPECT_EQ(stages(R"({"a": 1})"), "COUNT COUNT_SCAN(a_1_b_-1) of 3 and 0: 3");
  EXPECT_EQ(stages(R"({"a": 1})", {.skip = 1, .limit = 1}),
            "COUNT COUNT_SCAN(a_1_b_-1) of 2 and 0: 1");
  // These counts read two ranges of entries, match entries, or read documents.
  EXPECT_EQ(stages(R"({"a": {"$in": [0, 1]}})"), "COUNT IXSCAN(a_1_b_-1) of 6 and 0: 6");
  EXPECT_EQ(stages(R"({"a": 1, "b": {"$mod": [3, 0]}})"), "COUNT IXSCAN(a_1_b_-1) of 3 and 0: 1");
  EXPECT_EQ(stages(R"({"tags": "x"})"), "COUNT FETCH IXSCAN(tags_1) of 6 and 6: 6");
  EXPECT_EQ(stages(R"({"c": null})"), "COUNT COLLSCAN of 0 and 6: 6");
  const auto run = [&](std::string_view filter) {
    const bson::Document explained =
        *collection()->explain_count(*view, doc(filter), {}, Verbosity::kQueryPlanner);
    const bson::View count =
        explained.view()["queryPlanner"].as_document()["winningPlan"].as_document();
    return json(count["inputStage"].as_document()["indexBounds"].as_document());
  };
  EXPECT_EQ(run(R"({"a": 1})"),
            json(doc(R"({"startKey": {"a": 1, "b": {"$maxKey": 1}}, "startKeyInclusive": true,
                         "endKey": {"a": 1, "b": {"$minKey": 1}}, "endKeyInclusive": true})")));
  EXPECT_EQ(run(R"({"a": {"$gt": 0, "$lt": 5}})"),
            json(doc(R"({"startKey": {"a": 0, "b": {"$minKey": 1}}, "startKeyInclusive": false,
                         "endKey": {"a": 5, "b": {"$maxKey": 1}}, "endKeyInclusive": false})")));
  EXPECT_EQ(run(R"({"a": 1, "b": {"$gt": 2}})"),
            json(doc(R"({"startKey": {"a": 1, "b": {"$numberDouble": "Infinity"}},
                         "startKeyInclusive": true, "endKey": {"a": 1, "b": 2},
                         "endKeyInclusive": false})")));
  const auto missing =
      collection("missing")->explain_count(*view, bson::View(), {}, Verbosity::kExecutionStats);
  ASSERT_THAT(missing, Succeeded());
  EXPECT_EQ(read(*missing).plan, "COUNT EOF");
}

// Source: MongoDB manual, "Covered Query".
TEST_P(StoreContract, Covered_QueriesReadNoDocuments) {
  insert(R"({"_id": 1, "a": "x\u0001y", "b": {"c": 5}, "d": {"$numberLong": "7"}})");
  insert(R"({"_id": 2, "a": "x", "b": {"c": 5.5}, "d": 7.0})");
  insert(R"({"_id": 3, "a": null, "b": {"c": {"$date": "2024-01-01T00:00:00Z"}}, "d": 7})");
  insert(R"({"_id": 4, "b": {"c": false}, "d": -2})");
  insert(R"({"_id": 5, "a": {"$oid": "65a000000000000000000001"}, "b": {"c": {"$minKey": 1}},
             "d": {"$timestamp": {"t": 3, "i": 4}}})");
  create_index(R"({"a": 1, "d": -1, "b.c": 1})");
  create_index(R"({"d": 1})", false, "d");
  const std::string projection = R"({"_id": 0, "a": 1, "d": 1, "b.c": 1})";
  const auto canonical = [&](std::string_view hint) {
    const auto view = snapshot();
    FindOptions options;
    const bson::Document fields = doc(projection);
    options.projection = fields;
    options.hint = bson::Value(hint);
    const auto cursor = collection()->find(*view, bson::View(), options);
    EXPECT_THAT(cursor, Succeeded());
    std::vector<std::string> found;
    while (const auto next = *(*cursor)->next()) {
      // Compared by name, because the index has the fields in another order than the documents.
      std::string text;
      for (const std::string_view name : {"a", "b", "d"}) {
        const auto value = next->find(name);
        text += value ? bson::to_json(*value, bson::JsonForm::kCanonical) + "; " : "-; ";
      }
      found.push_back(text);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_EQ(canonical("a_1_d_-1_b.c_1"), canonical("_id_"));
  Explaining explain(collection(), snapshot());
  const auto covered = [&](std::string_view filter, std::string_view fields) {
    return explain(filter, {.projection = std::string(fields)});
  };
  const Explained all =
      explain("{}", {.projection = projection, .hint = bson::Value("a_1_d_-1_b.c_1")});
  EXPECT_EQ(all.plan, "PROJECTION_COVERED IXSCAN(a_1_d_-1_b.c_1)");
  EXPECT_EQ(all.documents, 0);
  EXPECT_EQ(all.returned, 5);
  EXPECT_EQ(covered(R"({"a": "x"})", R"({"_id": 0, "d": 1})").documents, 0);
  EXPECT_EQ(covered(R"({"a": "x", "d": {"$mod": [7, 0]}})", R"({"_id": 0, "d": 1})").documents, 0);
  EXPECT_EQ(covered(R"({"a": "x"})", R"({"d": 1})").documents, 1);
  EXPECT_EQ(covered(R"({"a": "x"})", R"({"_id": 0, "e": 1})").documents, 1);
  EXPECT_EQ(covered(R"({"a": "x", "e": null})", R"({"_id": 0, "d": 1})").documents, 1);

  // The key stays the same, but the type changes.
  EXPECT_EQ(update(R"({"_id": 2})", R"({"$set": {"d": {"$numberLong": "7"}}})").modified, 1);
  EXPECT_EQ(canonical("a_1_d_-1_b.c_1"), canonical("_id_"));
  // Values that an entry does not hold are read from the document.
  insert(R"({"_id": 6, "a": {"sub": 1}, "d": {"$numberDecimal": "7.0"}})");
  insert(R"({"_id": 7, "a": -0.0, "b": {}, "d": {"$numberLong": "9007199254740993"}})");
  EXPECT_EQ(canonical("a_1_d_-1_b.c_1"), canonical("_id_"));
  insert(R"({"_id": 8, "a": [1, 2], "d": 1})");
  EXPECT_EQ(canonical("a_1_d_-1_b.c_1"), canonical("_id_"));
}

TEST_P(StoreContract, Covered_PipelinesGiveWhatDocumentsGive) {
  for (int i = 0; i < 12; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i % 3) + R"(, "b": )" +
           std::to_string(i) + R"(.5, "c": "x"})");
  }
  const std::vector<std::string> pipelines = {
      R"([{"$match": {"a": {"$gte": 1}}}, {"$group": {"_id": "$a", "n": {"$sum": "$b"}}},
          {"$sort": {"_id": 1}}])",
      R"([{"$match": {"a": 2}}, {"$project": {"_id": 0, "sum": {"$add": ["$a", "$b"]}}},
          {"$sort": {"sum": 1}}])",
      R"([{"$match": {"a": 1}}, {"$project": {"_id": 0, "all": "$$ROOT"}},
          {"$sort": {"all._id": 1}}])",
      R"([{"$match": {"a": 0}}, {"$project": {"_id": 0, "a": 1, "c": 1}}])",
  };
  const auto run = [&](const std::string& pipeline) {
    const auto view = snapshot();
    const bson::Document holder = doc(R"({"p": )" + pipeline + "}");
    const auto cursor = collection()->aggregate(*view, holder.view()["p"].as_document());
    EXPECT_THAT(cursor, Succeeded());
    std::string found;
    while (const auto next = *(*cursor)->next()) found += json(*next) + "\n";
    return found;
  };
  const auto documents_read = [&](const std::string& pipeline) {
    const auto view = snapshot();
    const bson::Document holder = doc(R"({"p": )" + pipeline + "}");
    const auto explained = collection()->explain_aggregate(*view, holder.view()["p"].as_document(),
                                                           {}, Verbosity::kExecutionStats);
    EXPECT_THAT(explained, Succeeded());
    if (!explained || !explained->find("stages")) return int64_t{-1};
    const bson::View stages = explained->view()["stages"].as_document();
    return read(stages["0"].as_document()["$cursor"].as_document()).documents;
  };
  std::vector<std::string> before;
  for (const std::string& pipeline : pipelines) before.push_back(run(pipeline));
  create_index(R"({"a": 1, "b": -1})");
  for (size_t i = 0; i < pipelines.size(); ++i) EXPECT_EQ(run(pipelines[i]), before[i]);
  EXPECT_EQ(documents_read(pipelines[0]), 0);
  EXPECT_EQ(documents_read(pipelines[1]), 0);
  EXPECT_EQ(documents_read(pipelines[2]), 4);
  EXPECT_EQ(documents_read(pipelines[3]), 4);
}

// In one transaction, the writes of one document follow the writes of another.
TEST_P(StoreContract, Covered_UniqueIndexesFollowTheTypesOfTheirValues) {
  create_index(R"({"u": 1})", true);
  ASSERT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(collection()->insert(transaction, doc(R"({"_id": 1, "u": 5})")));
                GM_TRY(collection()->insert(transaction, doc(R"({"_id": 2, "u": 9})")));
                GM_TRY(collection()->update(transaction, doc(R"({"_id": 1})"),
                                            doc(R"({"$set": {"u": 5.0}})")));
                GM_TRY(collection()->update(transaction, doc(R"({"_id": 2})"),
                                            doc(R"({"$set": {"u": {"$numberLong": "9"}}})")));
                return {};
              }),
              Succeeded());
  const auto view = snapshot();
  const bson::Document fields = doc(R"({"_id": 0, "u": 1})");
  FindOptions options;
  options.projection = fields;
  options.hint = bson::Value("u_1");
  const auto cursor = collection()->find(*view, bson::View(), options);
  ASSERT_THAT(cursor, Succeeded());
  std::string found;
  while (const auto next = *(*cursor)->next()) {
    found += bson::to_json((*next)["u"], bson::JsonForm::kCanonical) + " ";
  }
  EXPECT_EQ(found, R"({ "$numberDouble" : "5.0" } { "$numberLong" : "9" } )");
}

TEST_P(StoreContract, Explain_EntriesAreMatchedBeforeDocumentsAreRead) {
  for (int i = 0; i < 100; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "name": "user)" + std::to_string(i) +
           R"(", "n": )" + std::to_string(i) + "}");
  }
  create_index(R"({"name": 1, "n": 1})");
  Explaining explain(collection(), snapshot());
  const Explained suffix =
      explain(R"({"name": {"$regex": "7$"}})", {.hint = bson::Value("name_1_n_1")});
  EXPECT_EQ(suffix.plan, "FETCH IXSCAN(name_1_n_1)");
  EXPECT_EQ(suffix.returned, 10);
  EXPECT_EQ(suffix.keys, 100);
  EXPECT_EQ(suffix.documents, 10);
  const Explained second = explain(R"({"name": {"$gte": "user5"}, "n": {"$mod": [10, 3]}})");
  EXPECT_EQ(second.returned, 5);
  EXPECT_EQ(second.documents, 5);
  // The index does not have the field `m`, so the documents are read.
  EXPECT_EQ(explain(R"({"name": {"$gte": "user5"}, "m": null})").documents, 55);
}

TEST_P(StoreContract, Planner_TakesTheIndexThatReadsLess) {
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                for (int i = 0; i < 600; ++i) {
                  bson::Builder document;
                  document.append("_id", int32_t{i}).append("coarse", int32_t{i % 2});
                  document.append("fine", int32_t{i % 300}).append("mostly", int32_t{i == 7});
                  GM_TRY(collection()->insert(transaction, std::move(document).finish()));
                }
                return {};
              }),
              Succeeded());
  create_index(R"({"coarse": 1})");
  create_index(R"({"fine": 1})");
  create_index(R"({"mostly": 1})");
  Explaining explain(collection(), snapshot());
  const Explained fine = explain(R"({"coarse": 1, "fine": 7})");
  EXPECT_EQ(fine.plan, "FETCH IXSCAN(fine_1)");
  EXPECT_EQ(fine.keys, 2);
  EXPECT_GE(fine.rejected, 1U);
  // The planner gets the same field with a value that nearly all documents have, and with a value
  // that only one document has.
  EXPECT_EQ(explain(R"({"mostly": 0, "fine": 8})").plan, "FETCH IXSCAN(fine_1)");
  EXPECT_EQ(explain(R"({"mostly": 1, "fine": {"$lt": 200}})").plan, "FETCH IXSCAN(mostly_1)");
  // This range has fewer entries than the point.
  EXPECT_EQ(explain(R"({"coarse": 1, "fine": {"$gt": 297}})").plan, "FETCH IXSCAN(fine_1)");
  // A few matches are sorted. Many are read in the requested order.
  EXPECT_EQ(explain(R"({"mostly": 1, "fine": {"$gte": 0}})", {.sort = R"({"fine": 1})"}).plan,
            "SORT FETCH IXSCAN(mostly_1)");
  EXPECT_EQ(explain(R"({"mostly": 0, "fine": {"$gte": 0}})", {.sort = R"({"fine": 1})"}).plan,
            "FETCH IXSCAN(fine_1)");
}

TEST_P(StoreContract, Explain_OfPipelinesAndViews) {
  for (int i = 0; i < 10; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i % 2) + "}");
  }
  create_index(R"({"a": 1})");
  EXPECT_THAT(
      commit([&](Transaction& transaction) {
        return db()->create(
            transaction, "v",
            doc(R"({"viewOn": "c", "pipeline": [{"$match": {"a": 1}}, {"$set": {"b": 2}}]})"));
      }),
      Succeeded());
  const auto view = snapshot();
  const bson::Document holder =
      doc(R"({"p": [{"$match": {"a": 1}}, {"$group": {"_id": "$b", "n": {"$sum": 1}}}]})");
  const auto explained = collection()->explain_aggregate(*view, holder.view()["p"].as_document(),
                                                         {}, Verbosity::kExecutionStats);
  ASSERT_THAT(explained, Succeeded());
  ASSERT_TRUE(explained->find("stages")) << json(*explained);
  const bson::View stages = explained->view()["stages"].as_document();
  const Explained source = read(stages["0"].as_document()["$cursor"].as_document());
  EXPECT_EQ(source.plan, "FETCH IXSCAN(a_1)");
  EXPECT_EQ(source.documents, 5);
  const bson::View group = stages["1"].as_document();
  EXPECT_EQ(json(group["$group"].as_document()), json(doc(R"({"_id": "$b", "n": {"$sum": 1}})")));
  EXPECT_EQ(group["nReturned"].integral(), 1);
  const auto of_view =
      collection("v")->explain(*view, doc(R"({"_id": 3})"), {}, Verbosity::kQueryPlanner);
  ASSERT_THAT(of_view, Succeeded());
  EXPECT_THAT(json(*of_view), HasSubstr("\"$cursor\""));
}

// Source: MongoDB manual, "validate".
TEST_P(StoreContract, Validate_CountsAndJudges) {
  insert(R"({"_id": 1, "a": [1, 2]})");
  insert(R"({"_id": 2, "a": 3})");
  create_index(R"({"a": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(db()->modify(transaction, "c", doc(R"({"validator": {"a": {"$gt": 2}}})")));
                return db()->create(transaction, "v", doc(R"({"viewOn": "c", "pipeline": []})"));
              }),
              Succeeded());
  const auto view = snapshot();
  const auto report = db()->validate(*view, "c");
  ASSERT_THAT(report, Succeeded());
  EXPECT_EQ(json(*report),
            json(doc(R"({"ns": "test.c", "nInvalidDocuments": 0, "nNonCompliantDocuments": 1,
                "nrecords": 2, "nIndexes": 2, "keysPerIndex": {"_id_": 2, "a_1": 3},
                "indexDetails": {
                  "_id_": {"valid": true, "spec": {"v": 2, "key": {"_id": 1}, "name": "_id_"}},
                  "a_1": {"valid": true, "spec": {"v": 2, "key": {"a": 1}, "name": "a_1"}}},
                "valid": true, "repaired": false,
                "warnings": ["Detected one or more documents not compliant with the collection's schema"],
                "errors": [], "extraIndexEntries": [], "missingIndexEntries": [],
                "corruptRecords": []})")));
  EXPECT_THAT(db()->validate(*view, "nosuch"), FailedWith(ErrorCode::kNamespaceNotFound));
  EXPECT_THAT(db()->validate(*view, "v"), FailedWith(ErrorCode::kCommandNotSupportedOnView));
}

TEST_P(StoreContract, Reference_IsResolved) {
  insert(R"({"_id": 5, "name": "CCS"})", "places");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(store().database("other")->collection("places")->insert(
                    transaction, doc(R"({"_id": 5, "name": "elsewhere"})")));
                return {};
              }),
              Succeeded());
  const auto view = snapshot();
  const auto resolved = [&](std::string_view text) -> std::string {
    const bson::Document holder = doc(text);
    const auto reference = Reference::parse(holder.view()["r"]);
    if (!reference) return describe(reference.error());
    EXPECT_EQ(json(reference->document()), json(holder.view()["r"].as_document()));
    const auto found = resolve(store(), *view, "test", *reference);
    EXPECT_THAT(found, Succeeded());
    if (!found || !*found) return "nothing";
    return std::string((**found)["name"].as_string());
  };
  EXPECT_EQ(resolved(R"({"r": {"$ref": "places", "$id": 5}})"), "CCS");
  EXPECT_EQ(resolved(R"({"r": {"$ref": "places", "$id": 5, "$db": "other"}})"), "elsewhere");
  EXPECT_EQ(resolved(R"({"r": {"$ref": "places", "$id": 6}})"), "nothing");
  EXPECT_EQ(resolved(R"({"r": {"$ref": "nosuch", "$id": 5}})"), "nothing");
  for (const std::string_view wrong :
       {R"({"r": 5})", R"({"r": {"$id": 5, "$ref": "places"}})", R"({"r": {"$ref": "places"}})",
        R"({"r": {"$ref": 5, "$id": 5}})", R"({"r": {"$ref": "a", "$id": 5, "x": 1, "$db": "b"}})",
        R"({"r": {"$ref": "a", "$id": 5, "$db": 1}})"}) {
    EXPECT_THAT(Reference::parse(doc(wrong).view()["r"]), FailedWith(ErrorCode::kTypeMismatch))
        << wrong;
  }
}

}  // namespace
}  // namespace gridmount::engine
