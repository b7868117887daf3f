// Goal: the stages that select, sort and count documents, unwind arrays or create documents do what
// MongoDB's manual says, however much of the pipeline the source runs.
// Method: tables.

#include <gtest/gtest.h>

#include "tests/engine/query/pipeline_run.h"

namespace gridmount::query {
namespace {

class PipelineStageTest : public testing::Test {
 protected:
  PipelineStageTest() {
    storage.set("c",
                "[{'_id': 1, 'a': 3, 'b': {'x': 1, 'y': 2}, 't': ['p', 'q']},"
                " {'_id': 2, 'a': 1, 'b': [{'x': 3}, 7, {'x': 4, 'y': 5}], 't': []},"
                " {'_id': 3, 'a': 2, 't': null},"
                " {'_id': 4, 'a': null, 'b': 9, 't': 'r'}]");
  }

  void expect(const std::vector<PipelineCase>& cases) { expect_results(run, cases); }
  void refuse(const std::vector<PipelineRefusal>& refusals) { expect_refused(run, refusals); }

  FakePipelineStorage storage;
  PipelineRun run{storage};
};

TEST_F(PipelineStageTest, Empty_GivesItsInput) {
  EXPECT_EQ(run.shown("[]"), storage.shown("c"));
}

TEST_F(PipelineStageTest, Match) {
  expect({
      {"[{'$match': {'a': {'$gt': 1}}}, {'$project': {'a': 1}}]",
       "[{'_id': 1, 'a': 3}, {'_id': 3, 'a': 2}]"},
      {"[{'$match': {}}, {'$project': {'_id': 1}}]",
       "[{'_id': 1}, {'_id': 2}, {'_id': 3}, {'_id': 4}]"},
      {"[{'$match': {'a': 3}}, {'$match': {'b.x': 1}}, {'$project': {'_id': 1}}]", "[{'_id': 1}]"},
      {"[{'$match': {'$expr': {'$gt': ['$a', '$_id']}}}, {'$project': {'a': 1}}]",
       "[{'_id': 1, 'a': 3}]"},
      {"[{'$match': {'a': {'$ne': null}, '$expr': {'$lt': ['$a', '$_id']}}}, {'$project': {'a': "
       "1}}]",
       "[{'_id': 2, 'a': 1}, {'_id': 3, 'a': 2}]"},
      {"[{'$set': {'z': {'$add': ['$_id', 1]}}}, {'$match': {'z': {'$in': [2, 4]}}}, {'$project': "
       "{'z': 1}}]",
       "[{'_id': 1, 'z': 2}, {'_id': 3, 'z': 4}]"},
      // Expressions inside $or stay in the pipeline.
      {"[{'$match': {'_id': {'$lt': 4}, '$or': [{'a': 3}, {'$expr': {'$eq': [{'$add': ['$a', 1]}, "
       "'$_id']}}]}}, "
       "{'$project': {'_id': 1}}]",
       "[{'_id': 1}, {'_id': 2}, {'_id': 3}]"},
      // The result shows whether the parent of an excluded field exists.
      {"[{'$project': {'b.x': 0}}, {'$match': {'b.x': null}}, {'$project': {'_id': 1}}]",
       "[{'_id': 1}, {'_id': 2}, {'_id': 3}, {'_id': 4}]"},
  });
  refuse({
      {"[{'$match': 5}]", 15959, "the match filter must be an expression in an object"},
      {"[{'$match': {'$x': 1}}]", 2, "unknown top level operator: $x"},
      {"[{'$match': {'a': {'$x': 1}}}]", 2, "unknown operator: $x"},
      {"[{'$match': {'$expr': '$$u'}}]", 17276, "Use of undefined variable: u"},
      {"[{'$match': {'$expr': {'$divide': [1, {'$subtract': ['$_id', 1]}]}}}]", 2,
       "divide by zero"},
  });
}

TEST_F(PipelineStageTest, CommandVariables) {
  run.variables = "{'one': 1, 'list': [1, 3]}";
  expect({
      {"[{'$match': {'$expr': {'$in': ['$_id', '$$list']}}}, {'$project': {'s': {'$add': ['$_id', "
       "'$$one']}}}]",
       "[{'_id': 1, 's': 2}, {'_id': 3, 's': 4}]"},
      {"[{'$match': {'$nor': [{'$expr': {'$in': ['$_id', '$$list']}}]}}, {'$project': {'_id': 1}}]",
       "[{'_id': 2}, {'_id': 4}]"},
      {"[{'$limit': 1}, {'$replaceWith': {'n': '$$NOW', 'o': '$$one'}}]",
       "[{'n': {'$date': {'$numberLong': '1000'}}, 'o': 1}]"},
  });
}

TEST_F(PipelineStageTest, SortSkipLimit) {
  expect({
      {"[{'$sort': {'a': 1}}, {'$project': {'_id': 1}}]",
       "[{'_id': 4}, {'_id': 2}, {'_id': 3}, {'_id': 1}]"},
      {"[{'$sort': {'a': -1}}, {'$project': {'_id': 1}}]",
       "[{'_id': 1}, {'_id': 3}, {'_id': 2}, {'_id': 4}]"},
      {"[{'$sort': {'a': 1}}, {'$limit': 2}, {'$project': {'a': 1}}]",
       "[{'_id': 4, 'a': null}, {'_id': 2, 'a': 1}]"},
      {"[{'$sort': {'a': 1}}, {'$skip': 1}, {'$limit': 2}, {'$project': {'_id': 1}}]",
       "[{'_id': 2}, {'_id': 3}]"},
      {"[{'$sort': {'a': 1}}, {'$limit': 3}, {'$skip': 1}, {'$limit': 5}, {'$project': {'_id': "
       "1}}]",
       "[{'_id': 2}, {'_id': 3}]"},
      {"[{'$sort': {'a': 1}}, {'$skip': 1}, {'$skip': 1}, {'$limit': 1}, {'$project': {'_id': 1}}]",
       "[{'_id': 3}]"},
      {"[{'$limit': 2}, {'$skip': 2}]", "[]"},
      {"[{'$limit': 2}, {'$skip': 3}]", "[]"},
      {"[{'$skip': 9}]", "[]"},
      {"[{'$skip': 0}, {'$limit': {'$numberLong': '9223372036854775807'}}, {'$project': {'_id': "
       "1}}, "
       "{'$skip': 3.0}]",
       "[{'_id': 4}]"},
      {"[{'$sort': {'b.x': -1, '_id': 1}}, {'$project': {'_id': 1}}]",
       "[{'_id': 2}, {'_id': 1}, {'_id': 3}, {'_id': 4}]"},
      {"[{'$sort': {'t': 1, 'a': 1}}, {'$project': {'_id': 1}}]",
       "[{'_id': 2}, {'_id': 3}, {'_id': 1}, {'_id': 4}]"},
      // The source also gets the filter that follows a sort.
      {"[{'$sort': {'a': 1}}, {'$match': {'_id': {'$gt': 2}}}, {'$limit': 1}, {'$project': {'a': "
       "1}}]",
       "[{'_id': 4, 'a': null}]"},
      {"[{'$limit': 2}, {'$sort': {'a': 1}}, {'$limit': 1}, {'$project': {'a': 1}}]",
       "[{'_id': 2, 'a': 1}]"},
      {"[{'$limit': 2}, {'$match': {'a': 1}}, {'$project': {'a': 1}}]", "[{'_id': 2, 'a': 1}]"},
      // The sort is by a field that was removed.
      {"[{'$project': {'_id': 1}}, {'$sort': {'a': 1}}]",
       "[{'_id': 1}, {'_id': 2}, {'_id': 3}, {'_id': 4}]"},
  });
  refuse({
      {"[{'$sort': 5}]", 15973, "the $sort key specification must be an object"},
      {"[{'$sort': {}}]", 15976, "$sort stage must have at least one sort key"},
      {"[{'$sort': {'a': 'x'}}]", 15974, "Illegal key in $sort specification: a: "},
      {"[{'$sort': {'a': {'$meta': 'textScore'}}}]", 40218, "text score"},
      {"[{'$sort': {'a': 2}}]", 15975, "$sort key ordering must be 1"},
      {"[{'$sort': {'a': 0.5}}]", 15975, "$sort key ordering must be 1"},
      {"[{'$sort': {'a.': 1}}]", 40353, "FieldPath must not end with a '.'."},
      {"[{'$limit': 0}]", 15958, "the limit must be positive"},
      {"[{'$limit': -1}]", 5107201,
       "invalid argument to $limit stage: Expected a non-negative number in: $limit: -1"},
      {"[{'$limit': 'x'}]", 5107201, "Expected a number in: $limit: \"x\""},
      {"[{'$limit': 1.5}]", 5107201, "Expected an integer: $limit: 1.5"},
      {"[{'$limit': 1e20}]", 5107201, "Cannot represent as a 64-bit integer: $limit: 1"},
      {"[{'$skip': -1}]", 5107200, "Expected a non-negative number in: $skip: -1"},
      {"[{'$skip': null}]", 5107200, "Expected a number in: $skip: null"},
  });
}

TEST_F(PipelineStageTest, Count) {
  expect({
      {"[{'$count': 'n'}]", "[{'n': 4}]"},
      {"[{'$match': {'a': {'$gt': 1}}}, {'$count': 'n'}]", "[{'n': 2}]"},
      {"[{'$match': {'a': 99}}, {'$count': 'n'}]", "[]"},
      {"[{'$unwind': '$t'}, {'$count': 'n'}]", "[{'n': 3}]"},
      {"[{'$count': 'n'}, {'$set': {'m': {'$add': ['$n', 1]}}}]", "[{'n': 4, 'm': 5}]"},
  });
  refuse({
      {"[{'$count': 5}]", 40156, "the count field must be a non-empty string"},
      {"[{'$count': ''}]", 40157, "the count field must be a non-empty string"},
      {"[{'$count': '$a'}]", 40158, "the count field cannot be a $-prefixed path"},
      {"[{'$count': 'a.b'}]", 40160, "the count field cannot contain '.'"},
  });
}

TEST_F(PipelineStageTest, Unwind) {
  expect({
      {"[{'$unwind': '$t'}, {'$project': {'t': 1}}]",
       "[{'_id': 1, 't': 'p'}, {'_id': 1, 't': 'q'}, {'_id': 4, 't': 'r'}]"},
      {"[{'$unwind': {'path': '$t', 'preserveNullAndEmptyArrays': true}}, {'$project': {'t': 1}}]",
       "[{'_id': 1, 't': 'p'}, {'_id': 1, 't': 'q'}, {'_id': 2}, {'_id': 3, 't': null}, "
       "{'_id': 4, 't': 'r'}]"},
      {"[{'$unwind': {'path': '$t', 'includeArrayIndex': 'i'}}, {'$project': {'t': 1, 'i': 1}}]",
       "[{'_id': 1, 't': 'p', 'i': {'$numberLong': '0'}}, {'_id': 1, 't': 'q', 'i': "
       "{'$numberLong': "
       "'1'}}, {'_id': 4, 't': 'r', 'i': null}]"},
      {"[{'$unwind': {'path': '$t', 'includeArrayIndex': 'k.i', 'preserveNullAndEmptyArrays': "
       "true}}, {'$project': {'k': 1}}]",
       "[{'_id': 1, 'k': {'i': 0}}, {'_id': 1, 'k': {'i': 1}}, {'_id': 2, 'k': {'i': null}}, "
       "{'_id': 3, 'k': {'i': null}}, {'_id': 4, 'k': {'i': null}}]"},
      {"[{'$unwind': {'path': '$t', 'includeArrayIndex': 't'}}, {'$project': {'t': 1}}]",
       "[{'_id': 1, 't': 0}, {'_id': 1, 't': 1}, {'_id': 4, 't': null}]"},
      {"[{'$unwind': '$b'}, {'$project': {'b': 1}}]",
       "[{'_id': 1, 'b': {'x': 1, 'y': 2}}, {'_id': 2, 'b': {'x': 3}}, {'_id': 2, 'b': 7}, "
       "{'_id': 2, 'b': {'x': 4, 'y': 5}}, {'_id': 4, 'b': 9}]"},
      // Arrays on the path have no such field.
      {"[{'$unwind': '$b.x'}, {'$project': {'b': 1}}]", "[{'_id': 1, 'b': {'x': 1, 'y': 2}}]"},
      {"[{'$unwind': '$b'}, {'$unwind': '$b.x'}, {'$project': {'b.x': 1}}]",
       "[{'_id': 1, 'b': {'x': 1}}, {'_id': 2, 'b': {'x': 3}}, {'_id': 2, 'b': {'x': 4}}]"},
      {"[{'$unwind': '$no'}]", "[]"},
      {"[{'$unwind': '$t'}, {'$group': {'_id': null, 'n': {'$sum': 1}}}]",
       "[{'_id': null, 'n': 3}]"},
  });
  storage.set("c", "[{'_id': 1, 'a': {'b': {'c': [1, [2, 3], null]}}}]");
  expect({
      {"[{'$unwind': '$a.b.c'}]",
       "[{'_id': 1, 'a': {'b': {'c': 1}}}, {'_id': 1, 'a': {'b': {'c': [2, 3]}}}, {'_id': 1, 'a': "
       "{'b': {'c': null}}}]"},
      {"[{'$unwind': '$a.b.c'}, {'$unwind': '$a.b.c'}]",
       "[{'_id': 1, 'a': {'b': {'c': 1}}}, {'_id': 1, 'a': {'b': {'c': 2}}}, {'_id': 1, 'a': "
       "{'b': {'c': 3}}}]"},
  });
  refuse({
      {"[{'$unwind': 5}]", 15981, "expected either a string or an object as specification"},
      {"[{'$unwind': 't'}]", 28818,
       "path option to $unwind stage should be prefixed with a '$': t"},
      {"[{'$unwind': ''}]", 28812, "no path specified to $unwind stage"},
      {"[{'$unwind': {}}]", 28812, "no path specified to $unwind stage"},
      {"[{'$unwind': {'path': 5}}]", 28808,
       "expected a string as the path for $unwind stage, got int"},
      {"[{'$unwind': {'path': '$t', 'preserveNullAndEmptyArrays': 1}}]", 28809,
       "expected a boolean"},
      {"[{'$unwind': {'path': '$t', 'includeArrayIndex': ''}}]", 28810,
       "expected a non-empty string"},
      {"[{'$unwind': {'path': '$t', 'includeArrayIndex': '$i'}}]", 28822, "should not be prefixed"},
      {"[{'$unwind': {'path': '$t', 'x': 1}}]", 28811, "unrecognized option to $unwind stage: x"},
      {"[{'$unwind': '$t.'}]", 40353, "FieldPath must not end with a '.'."},
  });
}

TEST_F(PipelineStageTest, Sample) {
  expect({
      {"[{'$sample': {'size': 10}}, {'$sort': {'_id': 1}}, {'$project': {'_id': 1}}]",
       "[{'_id': 1}, {'_id': 2}, {'_id': 3}, {'_id': 4}]"},
      {"[{'$sample': {'size': 3.7}}, {'$count': 'n'}]", "[{'n': 3}]"},
  });
  // Each document has the same probability.
  std::map<int, int> counts;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    run.random_seed = seed;
    const auto stages = PipelineRun::parse_stages("[{'$sample': {'size': 2}}, {'$limit': 1}]");
    const auto drawn = run.run(stages.view()["p"].as_document(), Pipeline::Input::kEverything);
    ++counts[drawn->front().view()["_id"].as_int32()];
  }
  for (const auto& [id, count] : counts) EXPECT_NEAR(count, 1000, 150) << id;
  refuse({
      {"[{'$sample': 5}]", 28745, "the $sample stage specification must be an object"},
      {"[{'$sample': {'size': 'x'}}]", 28746, "size argument to $sample must be a number"},
      {"[{'$sample': {'size': -1}}]", 28747, "size argument to $sample must not be negative"},
      {"[{'$sample': {'x': 1}}]", 28748, "unrecognized option to $sample: x"},
      {"[{'$sample': {}}]", 28749, "$sample stage must specify a size"},
  });
}

TEST_F(PipelineStageTest, SourceStages) {
  expect({
      {"[{'$collStats': {'count': {}}}]", "[{'ns': 'test.c', 'count': {}}]"},
      {"[{'$collStats': {'storageStats': {'scale': 1024}, 'latencyStats': {'histograms': true}}}, "
       "{'$project': {'ns': 1}}]",
       "[{'ns': 'test.c'}]"},
      {"[{'$indexStats': {}}, {'$match': {'name': 'a_1'}}]", "[{'name': 'a_1', 'host': 'c'}]"},
  });
  refuse({
      {"[{'$collStats': 5}]", 40166,
       "$collStats must take a nested object but found: $collStats: 5"},
      {"[{'$collStats': {'x': {}}}]", 40415, "BSON field '$collStats.x' is an unknown field."},
      {"[{'$collStats': {'count': 1}}]", 14, "'$collStats.count' is the wrong type 'int'"},
      {"[{'$indexStats': 5}]", 28803,
       "The $indexStats stage specification must be an empty object"},
      {"[{'$indexStats': {'a': 1}}]", 28803, "must be an empty object"},
      {"[{'$match': {}}, {'$indexStats': {}}]", 40602,
       "$indexStats is only valid as the first stage in a pipeline"},
      {"[{'$match': {}}, {'$collStats': {}}]", 40602,
       "$collStats is only valid as the first stage"},
      {"[{'$documents': []}]", 73, "'$documents' can only be run with {aggregate: 1}"},
  });
  run.collection = "";
  expect({
      {"[{'$documents': [{'a': 1}, {'a': {'$add': [1, 1]}}]}]", "[{'a': 1}, {'a': 2}]"},
      {"[{'$documents': []}]", "[]"},
      {"[{'$documents': [{'a': 1}, {'a': 2}]}, {'$match': {'a': 2}}]", "[{'a': 2}]"},
      {"[{'$documents': {'$map': {'input': [1, 2], 'in': {'n': '$$this'}}}}, {'$group': {'_id': "
       "null, "
       "'s': {'$sum': '$n'}}}]",
       "[{'_id': null, 's': 3}]"},
  });
  refuse({
      {"[]", 73, "{aggregate: 1} is not valid for an empty pipeline."},
      {"[{'$match': {}}]", 73,
       "{aggregate: 1} is not valid for '$match'; a collection is required."},
      {"[{'$documents': 5}]", 5858203, "an array is expected"},
      {"[{'$documents': [5]}]", 40228, "must evaluate to an object, but resulting value was: 5"},
  });
}

TEST_F(PipelineStageTest, Shape) {
  refuse({
      {"[{'$no': 1}]", 40324, "Unrecognized pipeline stage name: '$no'"},
      {"[{'match': {}}]", 40324, "Unrecognized pipeline stage name: 'match'"},
      {"[5]", 14, "Each element of the 'pipeline' array must be an object"},
      {"[{}]", 40323, "A pipeline stage specification object must contain exactly one field."},
      {"[{'$match': {}, '$limit': 1}]", 40323, "must contain exactly one field."},
  });
  std::string many = "[";
  for (int i = 0; i < 1000; ++i) many += "{'$skip': 0},";
  EXPECT_EQ(run.shown(many + "{'$match': {'_id': 9}}]"),
            "7749501: Pipeline length must be no longer than 1000 stages");
  many.back() = ']';
  EXPECT_EQ(run.shown(many), storage.shown("c"));
}

}  // namespace
}  // namespace gridmount::query
