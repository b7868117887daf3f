// Goal: $lookup, $unionWith and $facet, which read other collections or split the input, produce
// what MongoDB's manual says.
// Method: tables.

#include <gtest/gtest.h>

#include <utility>

#include "tests/engine/query/pipeline_run.h"

namespace gridmount::query {
namespace {

class PipelineJoinTest : public testing::Test {
 protected:
  void expect(const std::vector<PipelineCase>& cases) { expect_results(run, cases); }
  void refuse(const std::vector<PipelineRefusal>& refusals) { expect_refused(run, refusals); }
  // Runs {$lookup: ...} with the results in `r`, and compares _id and r of the documents.
  void expect_joined(const std::vector<std::pair<std::string, std::string>>& cases) {
    for (const auto& [lookup, results] : cases) {
      EXPECT_EQ(run.shown("[{'$lookup': " + lookup + "}, {'$project': {'r': 1}}]"),
                show_expected(results))
          << lookup;
    }
  }

  FakePipelineStorage storage;
  PipelineRun run{storage};
};

TEST_F(PipelineJoinTest, Lookup_Equality) {
  storage.set("c",
              "[{'_id': 1, 'a': 1}, {'_id': 2, 'a': [1, 3]}, {'_id': 3, 'a': null}, {'_id': 4},"
              " {'_id': 5, 'a': []}, {'_id': 6, 'a': 'x'}]");
  storage.set(
      "f",
      "[{'_id': 'A', 'k': 1.0}, {'_id': 'B', 'k': [3, 4]}, {'_id': 'C', 'k': null}, {'_id': 'D'},"
      " {'_id': 'E', 'k': 2}]");
  expect_joined({
      {"{'from': 'f', 'localField': 'a', 'foreignField': 'k', 'as': 'r'}",
       "[{'_id': 1, 'r': [{'_id': 'A', 'k': 1.0}]},"
       " {'_id': 2, 'r': [{'_id': 'A', 'k': 1.0}, {'_id': 'B', 'k': [3, 4]}]},"
       " {'_id': 3, 'r': [{'_id': 'C', 'k': null}, {'_id': 'D'}]},"
       " {'_id': 4, 'r': [{'_id': 'C', 'k': null}, {'_id': 'D'}]},"
       " {'_id': 5, 'r': [{'_id': 'C', 'k': null}, {'_id': 'D'}]},"
       " {'_id': 6, 'r': []}]"},
      {"{'from': 'none', 'localField': 'a', 'foreignField': 'k', 'as': 'r'}",
       "[{'_id': 1, 'r': []}, {'_id': 2, 'r': []}, {'_id': 3, 'r': []}, {'_id': 4, 'r': []}, "
       "{'_id': 5, "
       "'r': []}, {'_id': 6, 'r': []}]"},
      {"{'from': 'f', 'localField': 'a', 'foreignField': 'k', 'as': 'r', 'pipeline': [{'$match': "
       "{'_id': "
       "{'$lt': 'D'}}}, {'$project': {'_id': 1}}]}",
       "[{'_id': 1, 'r': [{'_id': 'A'}]}, {'_id': 2, 'r': [{'_id': 'A'}, {'_id': 'B'}]},"
       " {'_id': 3, 'r': [{'_id': 'C'}]}, {'_id': 4, 'r': [{'_id': 'C'}]}, {'_id': 5, 'r': "
       "[{'_id': "
       "'C'}]}, {'_id': 6, 'r': []}]"},
      {"{'from': 'f', 'localField': 'a', 'foreignField': 'k', 'as': 'r', 'let': {'i': '$_id'}, "
       "'pipeline': "
       "[{'$sort': {'_id': -1}}, {'$limit': 1}, {'$project': {'_id': 1, 'of': '$$i'}}]}",
       "[{'_id': 1, 'r': [{'_id': 'A', 'of': 1}]}, {'_id': 2, 'r': [{'_id': 'B', 'of': 2}]},"
       " {'_id': 3, 'r': [{'_id': 'D', 'of': 3}]}, {'_id': 4, 'r': [{'_id': 'D', 'of': 4}]}, "
       "{'_id': 5, "
       "'r': [{'_id': 'D', 'of': 5}]}, {'_id': 6, 'r': []}]"},
  });
  expect({
      // The results replace a field of that name, or go into a field of a document.
      {"[{'$match': {'_id': 1}}, {'$lookup': {'from': 'f', 'localField': 'a', 'foreignField': 'k', "
       "'as': "
       "'a'}}]",
       "[{'_id': 1, 'a': [{'_id': 'A', 'k': 1.0}]}]"},
      {"[{'$match': {'_id': 1}}, {'$lookup': {'from': 'f', 'localField': 'a', 'foreignField': 'k', "
       "'as': "
       "'p.q'}}]",
       "[{'_id': 1, 'a': 1, 'p': {'q': [{'_id': 'A', 'k': 1.0}]}}]"},
  });
}

TEST_F(PipelineJoinTest, Lookup_PathsThroughArrays) {
  storage.set(
      "c",
      "[{'_id': 1, 'a': [{'b': 1}, {'b': [2, 3]}, 7, {}]}, {'_id': 2, 'a': {'b': [[1, 2], 5]}},"
      " {'_id': 3, 'a': [{'c': 1}]}, {'_id': 4, 'a': [[{'b': 1}]]}]");
  storage.set(
      "f",
      "[{'_id': 'A', 'k': {'l': 1}}, {'_id': 'B', 'k': [{'l': 3}, {'l': 9}]}, {'_id': 'C', 'k': "
      "{'l': [1, 2]}}, {'_id': 'D', 'k': 5}]");
  expect_joined({
      {"{'from': 'f', 'localField': 'a.b', 'foreignField': 'k.l', 'as': 'r', 'pipeline': "
       "[{'$project': "
       "{'_id': 1}}]}",
       "[{'_id': 1, 'r': [{'_id': 'A'}, {'_id': 'B'}, {'_id': 'C'}]}, {'_id': 2, 'r': [{'_id': "
       "'C'}]},"
       " {'_id': 3, 'r': [{'_id': 'D'}]}, {'_id': 4, 'r': [{'_id': 'D'}]}]"},
      {"{'from': 'f', 'localField': 'a.1.b', 'foreignField': 'k.l', 'as': 'r', 'pipeline': "
       "[{'$project': "
       "{'_id': 1}}]}",
       "[{'_id': 1, 'r': [{'_id': 'B'}, {'_id': 'C'}]}, {'_id': 2, 'r': [{'_id': 'D'}]},"
       " {'_id': 3, 'r': [{'_id': 'D'}]}, {'_id': 4, 'r': [{'_id': 'D'}]}]"},
  });
}

TEST_F(PipelineJoinTest, Lookup_OfPartsOfWhatIsRead) {
  storage.set("c", "[{'_id': 1, 'a': 1}]");
  storage.set("f",
              "[{'_id': 'A', 'k': {'l': 1, 'm': 2}}, {'_id': 'B', 'k': {'l': [3, {'m': 1}]}}]");
  expect_joined({
      {"{'from': 'f', 'localField': 'a', 'foreignField': 'k.l', 'as': 'r', 'pipeline': "
       "[{'$project': {'k': "
       "1}}]}",
       "[{'_id': 1, 'r': [{'_id': 'A', 'k': {'l': 1, 'm': 2}}]}]"},
      {"{'from': 'f', 'localField': 'a', 'foreignField': 'k.l.1.m', 'as': 'r', 'pipeline': "
       "[{'$project': "
       "{'_id': 1}}]}",
       "[{'_id': 1, 'r': [{'_id': 'B'}]}]"},
  });
}

TEST_F(PipelineJoinTest, Lookup_RegularExpressions_AreSearchedFor) {
  storage.set("c",
              "[{'_id': 1, 'a': {'$regularExpression': {'pattern': '^x', 'options': ''}}},"
              " {'_id': 2, 'a': ['y', {'$regularExpression': {'pattern': '^x', 'options': ''}}]}]");
  storage.set(
      "f",
      "[{'_id': 'A', 'k': 'xx'}, {'_id': 'B', 'k': {'$regularExpression': {'pattern': '^x', "
      "'options': ''}}}, {'_id': 'C', 'k': 'y'}]");
  expect_joined({
      {"{'from': 'f', 'localField': 'a', 'foreignField': 'k', 'as': 'r', 'pipeline': [{'$project': "
       "{'_id': "
       "1}}]}",
       "[{'_id': 1, 'r': [{'_id': 'B'}]}, {'_id': 2, 'r': [{'_id': 'B'}, {'_id': 'C'}]}]"},
  });
}

TEST_F(PipelineJoinTest, Lookup_Pipeline) {
  storage.set("c", "[{'_id': 1, 'a': 2}, {'_id': 2, 'a': 4}]");
  storage.set("f", "[{'_id': 1, 'n': 1}, {'_id': 2, 'n': 3}, {'_id': 3, 'n': 5}]");
  expect_joined({
      {"{'from': 'f', 'pipeline': [{'$count': 'n'}], 'as': 'r'}",
       "[{'_id': 1, 'r': [{'n': 3}]}, {'_id': 2, 'r': [{'n': 3}]}]"},
      {"{'from': 'f', 'let': {'a': '$a', 'no': '$no'}, 'pipeline': [{'$match': {'$expr': {'$lt': "
       "['$n', "
       "'$$a']}}}, {'$project': {'n': 1, 'no': '$$no', '_id': 0}}], 'as': 'r'}",
       "[{'_id': 1, 'r': [{'n': 1}]}, {'_id': 2, 'r': [{'n': 1}, {'n': 3}]}]"},
      // Nested: the inner pipeline sees both variables.
      {"{'from': 'f', 'let': {'a': '$a'}, 'pipeline': [{'$match': {'_id': 1}}, {'$lookup': "
       "{'from': 'f', "
       "'let': {'o': '$n'}, 'pipeline': [{'$match': {'_id': 2}}, {'$replaceWith': {'s': {'$add': "
       "['$$a', "
       "'$$o', '$n']}}}], 'as': 'i'}}], 'as': 'r'}",
       "[{'_id': 1, 'r': [{'_id': 1, 'n': 1, 'i': [{'s': 6}]}]}, {'_id': 2, 'r': [{'_id': 1, 'n': "
       "1, "
       "'i': [{'s': 8}]}]}]"},
      {"{'pipeline': [{'$documents': [{'x': 1}, {'x': 2}]}, {'$match': {'x': 2}}], 'as': 'r'}",
       "[{'_id': 1, 'r': [{'x': 2}]}, {'_id': 2, 'r': [{'x': 2}]}]"},
      {"{'localField': 'a', 'foreignField': 'x', 'pipeline': [{'$documents': [{'x': 2}, {'x': "
       "4}]}], "
       "'as': 'r'}",
       "[{'_id': 1, 'r': [{'x': 2}]}, {'_id': 2, 'r': [{'x': 4}]}]"},
      {"{'from': 'f', 'pipeline': [{'$collStats': {}}], 'as': 'r'}",
       "[{'_id': 1, 'r': [{'ns': 'test.f'}]}, {'_id': 2, 'r': [{'ns': 'test.f'}]}]"},
      {"{'from': 'f', 'pipeline': [{'$facet': {'x': [{'$count': 'n'}]}}], 'as': 'r'}",
       "[{'_id': 1, 'r': [{'x': [{'n': 3}]}]}, {'_id': 2, 'r': [{'x': [{'n': 3}]}]}]"},
  });
}

// The documents of an inner pipeline with random results differ from document to document.
TEST_F(PipelineJoinTest, Lookup_OfRandomResults_RunsForEachDocument) {
  storage.set("c", "[{'_id': 1}, {'_id': 2}, {'_id': 3}, {'_id': 4}, {'_id': 5}]");
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += (i > 0 ? ", {'_id': " : "{'_id': ") + std::to_string(i) + "}";
  storage.set("f", "[" + many + "]");
  for (const char* const pipeline :
       {"{'$sample': {'size': 1}}",
        "{'$limit': 1}, {'$project': {'n': {'$add': [1, {'$rand': {}}]}}}",
        "{'$match': {'$sampleRate': 0.5}}", "{'$facet': {'x': [{'$sample': {'size': 1}}]}}"}) {
    EXPECT_EQ(run.shown("[{'$lookup': {'from': 'f', 'pipeline': [" + std::string(pipeline) +
                        "], 'as': 'r'}}, {'$group': {'_id': '$r'}}, {'$count': 'n'}, "
                        "{'$project': {'several': {'$gt': ['$n', 1]}}}]"),
              show_expected("[{'several': true}]"))
        << pipeline;
  }
}

// The storage gets the conditions that a comparison with the variable implies, so that it can use
// an index. It does not get conditions that follow a stage that changes the documents.
TEST_F(PipelineJoinTest, Lookup_ConditionsOnVariables_ReachTheStorage) {
  storage.set("c", "[{'_id': 1, 'a': 5}, {'_id': 2}]");
  storage.set("f", "[{'_id': 'A', 'k': 5}, {'_id': 'B', 'k': [5]}, {'_id': 'C'}]");
  const auto requested = [&](const std::string& stages) {
    storage.filters.clear();
    run.shown("[{'$lookup': {'from': 'f', 'let': {'x': '$a'}, 'as': 'r', 'pipeline': " + stages +
              "}}]");
    return storage.filters["f"];
  };
  const auto filters = [](std::initializer_list<const char*> texts) {
    std::set<std::string> shown;
    for (const char* const text : texts) shown.insert(show(parse_json(text)));
    return shown;
  };
  EXPECT_EQ(requested("[{'$match': {'$expr': {'$eq': ['$k', '$$x']}}}]"),
            filters({"{'$and': [{'$expr': {'$eq': ['$k', {'$literal': 5}]}}]}", "{}"}));
  EXPECT_EQ(requested("[{'$match': {'_id': 'A', '$expr': {'$gt': ['$$x', '$k']}}}]"),
            filters({"{'$and': [{'$expr': {'$lt': ['$k', {'$literal': 5}]}}, {'_id': 'A'}]}",
                     "{'_id': 'A'}"}));
  EXPECT_EQ(requested("[{'$limit': 1}, {'$match': {'$expr': {'$eq': ['$k', '$$x']}}}]"),
            filters({"{}"}));
}

TEST_F(PipelineJoinTest, Lookup_WithUnwind) {
  storage.set("c", "[{'_id': 1, 'a': 1}, {'_id': 2, 'a': 9}, {'_id': 3, 'a': 2}]");
  storage.set("f", "[{'_id': 'A', 'k': 1}, {'_id': 'B', 'k': 1}, {'_id': 'C', 'k': 2}]");
  const std::string lookup =
      "[{'$lookup': {'from': 'f', 'localField': 'a', 'foreignField': 'k', 'as': 'r'}}, ";
  const std::pair<const char*, const char*> kCases[] = {
      {"{'$unwind': '$r'}, {'$project': {'r._id': 1}}]",
       "[{'_id': 1, 'r': {'_id': 'A'}}, {'_id': 1, 'r': {'_id': 'B'}}, {'_id': 3, 'r': {'_id': "
       "'C'}}]"},
      {"{'$unwind': {'path': '$r', 'preserveNullAndEmptyArrays': true, 'includeArrayIndex': 'i'}}, "
       "{'$project': {'r._id': 1, 'i': 1}}]",
       "[{'_id': 1, 'r': {'_id': 'A'}, 'i': 0}, {'_id': 1, 'r': {'_id': 'B'}, 'i': 1}, {'_id': 2, "
       "'i': "
       "null}, {'_id': 3, 'r': {'_id': 'C'}, 'i': 0}]"},
      {"{'$unwind': '$r'}, {'$match': {'r._id': 'B'}}, {'$project': {'_id': 1}}]", "[{'_id': 1}]"},
      {"{'$unwind': '$r'}, {'$count': 'n'}]", "[{'n': 3}]"},
      {"{'$unwind': '$r'}, {'$limit': 2}, {'$skip': 1}, {'$project': {'x': '$r._id'}}]",
       "[{'_id': 1, 'x': 'B'}]"},
      {"{'$unwind': '$r'}, {'$unwind': '$r'}, {'$count': 'n'}]", "[{'n': 3}]"},
      {"{'$unwind': '$r._id'}, {'$count': 'n'}]", "[]"},
  };
  for (const auto& [rest, results] : kCases) {
    EXPECT_EQ(run.shown(lookup + rest), show_expected(results)) << rest;
  }
}

TEST_F(PipelineJoinTest, Lookup_ByDbRef) {
  storage.set("c", "[{'_id': 1, 'by': {'$ref': 'f', '$id': 'A'}}, {'_id': 2}]");
  storage.set("f", "[{'_id': 'A', 'n': 1}]");
  expect_joined({{"{'from': 'f', 'localField': 'by.$id', 'foreignField': '_id', 'as': 'r'}",
                  "[{'_id': 1, 'r': [{'_id': 'A', 'n': 1}]}, {'_id': 2, 'r': []}]"}});
  expect({{"[{'$sort': {'by.$id': -1}}, {'$project': {'by.$id': 1}}]",
           "[{'_id': 1, 'by': {'$id': 'A'}}, {'_id': 2}]"}});
}

TEST_F(PipelineJoinTest, Lookup_Refused) {
  storage.set("c", "[{'_id': 1}]");
  refuse({
      {"[{'$lookup': 5}]", 9, "the $lookup stage specification must be an object, but found int"},
      {"[{'$lookup': {'from': 'f', 'as': 'r'}}]", 9,
       "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be "
       "specified"},
      {"[{'$lookup': {'from': 'f', 'localField': 'a', 'as': 'r'}}]", 9, "$lookup requires either"},
      {"[{'$lookup': {'from': 'f', 'localField': 'a', 'as': 'r', 'pipeline': []}}]", 9,
       "$lookup requires both or neither of 'localField' and 'foreignField'"},
      {"[{'$lookup': {'from': 'f', 'localField': 'a', 'foreignField': 'b', 'let': {}, 'as': 'r'}}]",
       9, "$lookup with a 'let' argument must also specify 'pipeline'"},
      {"[{'$lookup': {'from': 'f', 'localField': 'a', 'foreignField': 'b'}}]", 9,
       "must specify 'as' field"},
      {"[{'$lookup': {'localField': 'a', 'foreignField': 'b', 'as': 'r'}}]", 9,
       "must specify 'pipeline' when 'from' is empty"},
      {"[{'$lookup': {'pipeline': [], 'as': 'r'}}]", 9,
       "must have a pipeline with $documents as first stage"},
      {"[{'$lookup': {'from': 'f', 'pipeline': 5, 'as': 'r'}}]", 14,
       "'pipeline' option must be specified as an array"},
      {"[{'$lookup': {'from': 'f', 'pipeline': [], 'let': 5, 'as': 'r'}}]", 9,
       "must be an object, is type int"},
      {"[{'$lookup': {'from': 'f', 'pipeline': [], 'let': {'X': 1}, 'as': 'r'}}]", 9,
       "invalid character"},
      {"[{'$lookup': {'from': 'f', 'pipeline': [{'$match': {'$expr': '$$x'}}], 'as': 'r'}}]", 17276,
       "undefined variable: x"},
      // Variables do not see each other, and do not exist after the stage.
      {"[{'$lookup': {'from': 'f', 'pipeline': [], 'let': {'x': 1, 'y': '$$x'}, 'as': 'r'}}]",
       17276, "undefined variable: x"},
      {"[{'$lookup': {'from': 'f', 'pipeline': [], 'let': {'x': 1}, 'as': 'r'}}, {'$set': {'z': "
       "'$$x'}}]",
       17276, "undefined variable: x"},
      {"[{'$lookup': {'from': 5, 'localField': 'a', 'foreignField': 'b', 'as': 'r'}}]", 9,
       "'from'"},
      {"[{'$lookup': {'from': {'db': 'x', 'coll': 'y'}, 'pipeline': [], 'as': 'r'}}]", 9,
       "is not supported for db: x and coll: y"},
      {"[{'$lookup': {'from': 'f', 'localField': 5, 'foreignField': 'b', 'as': 'r'}}]", 9,
       "must be a string"},
      {"[{'$lookup': {'from': 'f', 'localField': '$a', 'foreignField': 'b', 'as': 'r'}}]", 16410,
       "'$'"},
      {"[{'$lookup': {'from': 'f', 'pipeline': [], 'as': 'r', 'x': 'y'}}]", 9,
       "unknown argument to $lookup: x"},
      {"[{'$lookup': {'from': 'f', 'pipeline': [{'$out': 'x'}], 'as': 'r'}}]", 51047,
       "$out is not allowed within a $lookup's sub-pipeline"},
      {"[{'$lookup': {'from': 'f', 'pipeline': [{'$no': 1}], 'as': 'r'}}]", 40324, "'$no'"},
      {"[{'$lookup': {'from': 'f', 'pipeline': [{'$documents': []}], 'as': 'r'}}]", 73,
       "$documents"},
  });
}

TEST_F(PipelineJoinTest, NestedTooDeep_IsRefused) {
  storage.set("c", "[{'_id': 1}]");
  std::string pipeline = "[]";
  for (int i = 0; i < 21; ++i) {
    pipeline = "[{'$lookup': {'from': 'c', 'pipeline': " + pipeline + ", 'as': 'r'}}]";
    if (i != 19) continue;
    EXPECT_TRUE(run.shown(pipeline).starts_with("{ '_id' : 1,")) << run.shown(pipeline);
  }
  EXPECT_EQ(run.shown(pipeline),
            "232: Maximum number of nested sub-pipelines exceeded. Limit is 20");
}

TEST_F(PipelineJoinTest, UnionWith) {
  storage.set("c", "[{'_id': 1, 'a': 2}, {'_id': 2, 'a': 4}]");
  storage.set("f", "[{'_id': 3, 'a': 1}, {'_id': 1, 'a': 3}]");
  expect({
      {"[{'$unionWith': 'f'}]",
       "[{'_id': 1, 'a': 2}, {'_id': 2, 'a': 4}, {'_id': 3, 'a': 1}, {'_id': 1, 'a': 3}]"},
      {"[{'$match': {'a': 4}}, {'$unionWith': {'coll': 'f', 'pipeline': [{'$match': {'a': 3}}]}}, "
       "{'$project': "
       "{'a': 1, '_id': 0}}]",
       "[{'a': 4}, {'a': 3}]"},
      {"[{'$unionWith': 'none'}, {'$sort': {'_id': -1}}]",
       "[{'_id': 2, 'a': 4}, {'_id': 1, 'a': 2}]"},
      {"[{'$unionWith': {'pipeline': [{'$documents': [{'x': 1}]}]}}, {'$skip': 2}]", "[{'x': 1}]"},
      {"[{'$unionWith': {'coll': 'f', 'pipeline': [{'$unionWith': 'f'}]}}, {'$group': {'_id': "
       "'$_id', 'n': "
       "{'$sum': '$a'}}}, {'$sort': {'_id': 1}}]",
       "[{'_id': 1, 'n': 8}, {'_id': 2, 'n': 4}, {'_id': 3, 'n': 2}]"},
      {"[{'$sort': {'a': -1}}, {'$limit': 1}, {'$unionWith': 'f'}, {'$count': 'n'}]", "[{'n': 3}]"},
      {"[{'$unionWith': {'coll': 'f', 'pipeline': [{'$collStats': {}}]}}, {'$skip': 2}]",
       "[{'ns': 'test.f'}]"},
  });
  refuse({
      {"[{'$unionWith': 5}]", 9, "must be an object or string, but found int"},
      {"[{'$unionWith': {'coll': 5}}]", 14,
       "BSON field '$unionWith.coll' is the wrong type 'int', expected type 'string'"},
      {"[{'$unionWith': {'coll': 'f', 'pipeline': 5}}]", 14,
       "'$unionWith.pipeline' is the wrong type"},
      {"[{'$unionWith': {'coll': 'f', 'x': 5}}]", 40415, "'$unionWith.x' is an unknown field."},
      {"[{'$unionWith': {}}]", 9, "$documents as first stage"},
      {"[{'$unionWith': {'coll': 'f', 'pipeline': [{'$out': 'x'}]}}]", 31441,
       "$out is not allowed within a $unionWith's sub-pipeline"},
      {"[{'$unionWith': {'coll': 'f', 'pipeline': [{'$match': {'$expr': {'$divide': [1, '$no', "
       "2]}}}]}}]",
       16020, "$divide"},
  });
}

// A cursor may be read again after an error.
TEST_F(PipelineJoinTest, UnionWith_ThatFailsToOpen_OpensAgain) {
  class FailingStorage final : public FakePipelineStorage {
   public:
    Result<std::unique_ptr<DocumentStream>> find(const CollectionName& collection,
                                                 const FindRequest& request) override {
      if (collection.collection == "f" && !std::exchange(has_failed_, true)) {
        return fail(ErrorCode::kInternalError, "the first search fails");
      }
      return FakePipelineStorage::find(collection, request);
    }

   private:
    bool has_failed_ = false;
  };
  FailingStorage failing;
  failing.set("c", "[{'_id': 1}]");
  failing.set("f", "[{'_id': 2}]");
  const bson::Document stages = PipelineRun::parse_stages("[{'$unionWith': 'f'}]");
  VariableScope scope;
  const Result<Pipeline> pipeline =
      Pipeline::parse(stages.view()["p"].as_document(), scope, {true, true});
  const PipelineContext context{failing, {"", "c"}, {1000}, {}, uint64_t{1} << 20, 1};
  const auto stream =
      *pipeline->run(*failing.find({"", "c"}, {}), context, Pipeline::Input::kRequested);
  EXPECT_EQ(show(**stream->next()), show(parse_json("{'_id': 1}")));
  EXPECT_FALSE(stream->next());
  EXPECT_EQ(show(**stream->next()), show(parse_json("{'_id': 2}")));
  EXPECT_FALSE(*stream->next());
}

TEST_F(PipelineJoinTest, Facet) {
  storage.set("c", "[{'_id': 1, 'a': 2}, {'_id': 2, 'a': 4}, {'_id': 3, 'a': 4}]");
  storage.set("f", "[{'_id': 9}]");
  expect({
      {"[{'$facet': {'n': [{'$count': 'n'}], 'by': [{'$sortByCount': '$a'}], 'few': [{'$limit': "
       "1}], 'none': "
       "[{'$match': {'a': 9}}]}}]",
       "[{'n': [{'n': 3}], 'by': [{'_id': 4, 'count': 2}, {'_id': 2, 'count': 1}], 'few': [{'_id': "
       "1, 'a': "
       "2}], 'none': []}]"},
      {"[{'$match': {'a': 4}}, {'$facet': {'all': []}}, {'$project': {'k': {'$size': '$all'}}}]",
       "[{'k': 2}]"},
      {"[{'$match': {'a': 9}}, {'$facet': {'x': [{'$group': {'_id': null}}]}}]", "[{'x': []}]"},
      {"[{'$facet': {'u': [{'$limit': 1}, {'$unionWith': 'f'}], 'l': [{'$lookup': {'from': 'f', "
       "'pipeline': [], "
       "'as': 'r'}}, {'$count': 'n'}]}}]",
       "[{'u': [{'_id': 1, 'a': 2}, {'_id': 9}], 'l': [{'n': 3}]}]"},
      {"[{'$facet': {'x': [{'$project': {'a': 1, '_id': 0}}]}}, {'$unwind': '$x'}, "
       "{'$replaceRoot': {'newRoot': "
       "'$x'}}]",
       "[{'a': 2}, {'a': 4}, {'a': 4}]"},
  });
  refuse({
      {"[{'$facet': 5}]", 40169,
       "the $facet specification must be a non-empty object, but found: $facet: 5"},
      {"[{'$facet': {}}]", 40169, "must be a non-empty object"},
      {"[{'$facet': {'a': 5}}]", 40170, "arguments to $facet must be arrays, a is type int"},
      {"[{'$facet': {'a': [5]}}]", 40171,
       "elements of arrays in $facet spec must be non-empty objects"},
      {"[{'$facet': {'a.b': []}}]", 16412, "FieldPath field names may not contain '.'"},
      {"[{'$facet': {'$a': []}}]", 16410, "may not start with '$'"},
      {"[{'$facet': {'a': [{'$facet': {'b': []}}]}}]", 40600,
       "$facet is not allowed to be used within a $facet stage"},
      {"[{'$facet': {'a': [{'$out': 'x'}]}}]", 40600,
       "$out is not allowed to be used within a $facet stage"},
      {"[{'$facet': {'a': [{'$indexStats': {}}]}}]", 40600, "$indexStats is not allowed"},
      {"[{'$facet': {'a': [{'$no': 1}]}}]", 40324, "'$no'"},
  });
}

// There is more input than the pipelines get at once, so each of them stops in the middle and
// continues.
TEST_F(PipelineJoinTest, Facet_OverMuchInput) {
  FakePipelineStorage::Documents& documents = storage.collections[{"", "c"}];
  const std::string text(100000, 'x');
  for (int32_t i = 0; i < 50; ++i) {
    bson::Builder builder;
    builder.append("_id", i).append("a", i % 7).append("text", text);
    builder.open_array("l").push(bson::Value(i)).push(bson::Value(-i)).close();
    documents.push_back(std::move(builder).finish());
  }
  storage.set("f", "[{'_id': 0, 'k': 3}, {'_id': 1, 'k': 5}]");
  const std::vector<std::string> kStages = {
      "{'$sort': {'a': -1, '_id': 1}}, {'$project': {'a': 1}}",
      "{'$sort': {'a': -1, '_id': 1}}, {'$limit': 3}, {'$project': {'a': 1}}",
      "{'$group': {'_id': '$a', 'n': {'$sum': 1}, 'l': {'$last': '$_id'}}}",
      "{'$bucketAuto': {'groupBy': '$_id', 'buckets': 3}}",
      "{'$bucket': {'groupBy': '$a', 'boundaries': [0, 3, 9]}}",
      "{'$unwind': '$l'}, {'$match': {'l': {'$lt': -20}}}, {'$project': {'l': 1}}",
      "{'$skip': 30}, {'$limit': 12}, {'$project': {'_id': 1}}",
      "{'$match': {'$expr': {'$eq': ['$a', 2]}}}, {'$count': 'n'}",
      "{'$lookup': {'from': 'f', 'localField': 'a', 'foreignField': 'k', 'as': 'r'}}, {'$unwind': "
      "'$r'}, "
      "{'$project': {'r': 1}}",
      "{'$lookup': {'from': 'f', 'localField': 'a', 'foreignField': 'k', 'as': 'r'}}, {'$project': "
      "{'r': 1}}",
      "{'$project': {'_id': 1}}, {'$unionWith': 'f'}",
      "{'$redact': {'$cond': [{'$eq': ['$a', 1]}, '$$DESCEND', '$$PRUNE']}}, {'$unset': 'text'}",
      "{'$sample': {'size': 10}}, {'$count': 'n'}",
      "{'$replaceWith': {'k': '$a'}}, {'$sortByCount': '$k'}",
  };
  std::string facets;
  std::string expected;
  for (size_t i = 0; i < kStages.size(); ++i) {
    const std::string name = "f" + std::to_string(i);
    facets += (i == 0 ? "'" : ", '") + name + "': [" + kStages[i] + "]";
    expected += run.shown("[" + kStages[i] + ", {'$group': {'_id': null, '" + name +
                          "': {'$push': '$$ROOT'}}}, {'$project': {'_id': 0}}]");
  }
  std::string given;
  for (size_t i = 0; i < kStages.size(); ++i) {
    given += run.shown("[{'$facet': {" + facets + "}}, {'$project': {'f" + std::to_string(i) +
                       "': 1}}]");
  }
  EXPECT_EQ(given, expected);
}

}  // namespace
}  // namespace gridmount::query
