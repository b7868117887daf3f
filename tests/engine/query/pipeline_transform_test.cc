// Goal: the stages that turn each document into one other document ($project, $addFields, $unset,
// $replaceRoot, $redact) do what MongoDB's manual says.
// Method: tables.

#include <gtest/gtest.h>

#include "tests/engine/query/pipeline_run.h"

namespace gridmount::query {
namespace {

class PipelineTransformTest : public testing::Test {
 protected:
  PipelineTransformTest() {
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

TEST_F(PipelineTransformTest, Project) {
  expect({
      {"[{'$limit': 1}, {'$project': {'a': 1}}]", "[{'_id': 1, 'a': 3}]"},
      {"[{'$limit': 1}, {'$project': {'_id': 0, 'a': true}}]", "[{'a': 3}]"},
      {"[{'$limit': 1}, {'$project': {'b': 0, 't': 0}}]", "[{'_id': 1, 'a': 3}]"},
      {"[{'$limit': 1}, {'$project': {'_id': 0}}]",
       "[{'a': 3, 'b': {'x': 1, 'y': 2}, 't': ['p', 'q']}]"},
      {"[{'$limit': 1}, {'$project': {'_id': 1}}]", "[{'_id': 1}]"},
      {"[{'$project': {'b.x': 1}}]",
       "[{'_id': 1, 'b': {'x': 1}}, {'_id': 2, 'b': [{'x': 3}, {'x': 4}]}, {'_id': 3}, {'_id': "
       "4}]"},
      {"[{'$project': {'b': {'x': 1}}}]",
       "[{'_id': 1, 'b': {'x': 1}}, {'_id': 2, 'b': [{'x': 3}, {'x': 4}]}, {'_id': 3}, {'_id': "
       "4}]"},
      {"[{'$project': {'b.x': 0, 'a': 0, 't': 0}}]",
       "[{'_id': 1, 'b': {'y': 2}}, {'_id': 2, 'b': [{}, 7, {'y': 5}]}, {'_id': 3}, "
       "{'_id': 4, 'b': 9}]"},
      {"[{'$project': {'s': '$a', 'n': {'$add': ['$_id', 1]}}}, {'$limit': 2}]",
       "[{'_id': 1, 's': 3, 'n': 2}, {'_id': 2, 's': 1, 'n': 3}]"},
      // Computed fields follow the included ones, in the order in which they are written.
      {"[{'$limit': 1}, {'$project': {'z': 'l', 'a': {'$literal': 1}, 't': 1}}]",
       "[{'_id': 1, 't': ['p', 'q'], 'z': 'l', 'a': 1}]"},
      {"[{'$project': {'b.z': '$a', 'b.x': 1}}]",
       "[{'_id': 1, 'b': {'x': 1, 'z': 3}}, {'_id': 2, 'b': [{'x': 3, 'z': 1}, {'z': 1}, {'x': 4, "
       "'z': 1}]}, {'_id': 3, 'b': {'z': 2}}, {'_id': 4, 'b': {'z': null}}]"},
      {"[{'$limit': 1}, {'$project': {'_id': {'$add': ['$_id', 9]}}}]", "[{'_id': 10}]"},
      {"[{'$limit': 1}, {'$project': {'_id.k': '$a'}}]", "[{'_id': {'k': 3}}]"},
      {"[{'$limit': 1}, {'$project': {'x': ['$a', '$no', {'k': '$no'}]}}]",
       "[{'_id': 1, 'x': [3, null, {}]}]"},
      {"[{'$limit': 1}, {'$project': {'a': '$$REMOVE', 'no': '$no'}}]", "[{'_id': 1}]"},
      // No later stage reads some of these fields.
      {"[{'$project': {'a': 1, 'b': 1}}, {'$project': {'a': 1}}, {'$limit': 1}]",
       "[{'_id': 1, 'a': 3}]"},
      {"[{'$project': {'b': 1}}, {'$project': {'b.x': 1, '_id': 0}}, {'$limit': 1}]",
       "[{'b': {'x': 1}}]"},
      {"[{'$project': {'b.x': 1}}, {'$project': {'k': '$b', '_id': 0}}]",
       "[{'k': {'x': 1}}, {'k': [{'x': 3}, {'x': 4}]}, {}, {}]"},
  });
  refuse({
      {"[{'$project': 5}]", 15969, "$project specification must be an object"},
      {"[{'$project': {}}]", 51272, "projection specification must have at least one field"},
      {"[{'$project': {'a': 1, 'b': 0}}]", 31254,
       "Invalid $project :: caused by :: Cannot do exclusion on field b in inclusion projection"},
      {"[{'$project': {'a': 0, 'b': 1}}]", 31253,
       "Cannot do inclusion on field b in exclusion projection"},
      {"[{'$project': {'a': 1, 'a.b': 1}}]", 31249, "Path collision at a.b remaining portion b"},
      {"[{'$project': {'a.b': 1, 'a': 1}}]", 31250, "Path collision at a"},
      {"[{'$project': {'a': 0, 'b': {'$add': [1]}}}]", 31252, "in exclusion projection"},
      {"[{'$project': {'a': 0, 'b': '$x'}}]", 31310, "in an exclusion projection"},
      {"[{'$project': {'a': {}}}]", 51270, "An empty sub-projection is not a valid value"},
      {"[{'$project': {'a': {'$no': 1}}}]", 31325, "Unknown expression $no"},
      {"[{'$project': {'a.$': 1}}]", 31324, "Cannot use positional projection in aggregation"},
      {"[{'$project': {'': 1}}]", 40352, "FieldPath cannot be constructed with empty string"},
      {"[{'$project': {'a.': 1}}]", 40353, "FieldPath must not end with a '.'."},
      {"[{'$project': {'a..b': 1}}]", 15998, "FieldPath field names may not be empty strings."},
      {"[{'$project': {'$a': 1}}]", 16410, "FieldPath field names may not start with '$'"},
  });
}

TEST_F(PipelineTransformTest, AddFields) {
  storage.set("c", "[{'_id': 1, 'a': 3, 'b': {'x': 1}, 'c': [{'x': 2}, 5, [{'x': 6}]]}]");
  expect({
      {"[{'$addFields': {'z': '$a'}}, {'$project': {'b': 0, 'c': 0}}]",
       "[{'_id': 1, 'a': 3, 'z': 3}]"},
      // The stage replaces existing fields.
      {"[{'$set': {'a': 'new', '_id': 2}}, {'$project': {'b': 0, 'c': 0}}]",
       "[{'_id': 2, 'a': 'new'}]"},
      {"[{'$set': {'b.y': 1, 'a.k': 2}}, {'$unset': 'c'}]",
       "[{'_id': 1, 'a': {'k': 2}, 'b': {'x': 1, 'y': 1}}]"},
      {"[{'$set': {'b': {'x': {'k': '$a'}}}}, {'$unset': 'c'}]",
       "[{'_id': 1, 'a': 3, 'b': {'x': {'k': 3}}}]"},
      {"[{'$set': {'c.x': '$a'}}, {'$project': {'c': 1}}]",
       "[{'_id': 1, 'c': [{'x': 3}, {'x': 3}, [{'x': 3}]]}]"},
      {"[{'$set': {'b': {}}}, {'$project': {'b': 1}}]", "[{'_id': 1, 'b': {}}]"},
      {"[{'$set': {'a': '$$REMOVE', 'n': '$no'}}, {'$project': {'b': 0, 'c': 0}}]", "[{'_id': 1}]"},
      {"[{'$set': {'a': '$b', 'b': '$a'}}, {'$project': {'c': 0}}]",
       "[{'_id': 1, 'a': {'x': 1}, 'b': 3}]"},
      {"[{'$set': {}}, {'$project': {'a': 1}}]", "[{'_id': 1, 'a': 3}]"},
      // No stage reads the field, but its subfields can be written.
      {"[{'$set': {'b.y': 1}}, {'$project': {'k': '$b.y'}}]", "[{'_id': 1, 'k': 1}]"},
      {"[{'$set': {'a': 1}}, {'$project': {'b': 1}}]", "[{'_id': 1, 'b': {'x': 1}}]"},
  });
  refuse({
      {"[{'$addFields': 5}]", 40272, "$addFields specification stage must be an object, got int"},
      {"[{'$set': 5}]", 40272, "$set specification stage must be an object, got int"},
      {"[{'$set': {'a': 1, 'a.b': 1}}]", 40176, "specification contains two conflicting paths"},
      {"[{'$set': {'a.b': 1, 'a': 1}}]", 40176, "specification contains two conflicting paths"},
      {"[{'$set': {'a': {'$add': 1, 'b': 1}}}]", 40181,
       "an expression specification must contain exactly one field"},
      {"[{'$set': {'a': {'b.c': 1}}}]", 40183,
       "cannot use dotted field name 'b.c' in a sub object"},
      {"[{'$set': {'$a': 1}}]", 16410, "may not start with '$'"},
      {"[{'$set': {'a': {'$no': 1}}}]", 168,
       "Invalid $set :: caused by :: Unrecognized expression '$no'"},
      // A field that nobody reads is computed all the same.
      {"[{'$set': {'z': {'$divide': ['$a', '$_id', 1]}}}, {'$project': {'a': 1}}]", 16020,
       "$divide"},
      {"[{'$set': {'z': {'$divide': ['$a', {'$subtract': ['$_id', 1]}]}}}, {'$project': {'a': 1}}]",
       2, "divide by zero"},
  });
}

TEST_F(PipelineTransformTest, Unset) {
  expect({
      {"[{'$limit': 1}, {'$unset': 'b'}]", "[{'_id': 1, 'a': 3, 't': ['p', 'q']}]"},
      {"[{'$limit': 1}, {'$unset': ['b.x', 't', 'no', '_id']}]", "[{'a': 3, 'b': {'y': 2}}]"},
  });
  refuse({
      {"[{'$unset': 5}]", 31002, "$unset specification must be a string or an array"},
      {"[{'$unset': []}]", 31119, "must be a string or an array with at least one field"},
      {"[{'$unset': ['a', 5]}]", 31120, "an array containing only string values"},
      {"[{'$unset': ['a', 'a']}]", 31250, "Path collision at a"},
      {"[{'$unset': ['a', 'a.b']}]", 31249, "Path collision at a.b"},
      {"[{'$unset': '$a'}]", 16410, "may not start with '$'"},
      {"[{'$unset': ''}]", 40352, "empty string"},
  });
}

TEST_F(PipelineTransformTest, ReplaceRoot) {
  expect({
      {"[{'$limit': 1}, {'$replaceRoot': {'newRoot': '$b'}}]", "[{'x': 1, 'y': 2}]"},
      {"[{'$limit': 1}, {'$replaceWith': '$b'}]", "[{'x': 1, 'y': 2}]"},
      {"[{'$limit': 1}, {'$replaceWith': {'$mergeObjects': [{'z': 0}, '$b', '$no']}}]",
       "[{'z': 0, 'x': 1, 'y': 2}]"},
      {"[{'$limit': 1}, {'$replaceWith': {'k': '$a', 'no': '$no'}}]", "[{'k': 3}]"},
      {"[{'$replaceWith': '$$ROOT'}, {'$project': {'_id': 1}}, {'$limit': 1}]", "[{'_id': 1}]"},
      {"[{'$replaceWith': {'k': '$a'}}, {'$sort': {'k': 1}}, {'$limit': 2}]",
       "[{'k': null}, {'k': 1}]"},
  });
  refuse({
      {"[{'$replaceRoot': 5}]", 40229,
       "expected an object as specification for $replaceRoot stage"},
      {"[{'$replaceRoot': {}}]", 40414, "'$replaceRoot.newRoot' is missing but a required field"},
      {"[{'$replaceRoot': {'newRoot': '$b', 'x': 1}}]", 40415,
       "'$replaceRoot.x' is an unknown field."},
      {"[{'$replaceRoot': {'newRoot': '$a'}}]", 40228,
       "must evaluate to an object, but resulting value was: 3. Type of resulting value: 'int'."},
      {"[{'$replaceWith': '$no'}]", 40228,
       "resulting value was: MISSING. Type of resulting value: 'missing'"},
  });
}

TEST_F(PipelineTransformTest, Redact) {
  storage.set(
      "c",
      "[{'_id': 1, 'level': 1, 'a': {'level': 5, 'x': 1}, 'b': [{'level': 3, 'y': 2}, {'level': "
      "5}, 7, [{'level': 5}, {'level': 1}]]}, {'_id': 2, 'level': 5}]");
  expect({
      {"[{'$redact': {'$cond': [{'$lte': ['$level', 3]}, '$$DESCEND', '$$PRUNE']}}]",
       "[{'_id': 1, 'level': 1, 'b': [{'level': 3, 'y': 2}, 7, [{'level': 1}]]}]"},
      {"[{'$redact': {'$cond': {'if': {'$eq': ['$level', 5]}, 'then': '$$PRUNE', 'else': "
       "'$$KEEP'}}}]",
       "[{'_id': 1, 'level': 1, 'a': {'level': 5, 'x': 1}, 'b': [{'level': 3, 'y': 2}, {'level': "
       "5}, "
       "7, [{'level': 5}, {'level': 1}]]}]"},
      {"[{'$redact': {'$cond': [{'$eq': ['$$ROOT.level', '$level']}, '$$DESCEND', '$$PRUNE']}}, "
       "{'$project': {'a': 1, 'b': 1}}]",
       "[{'_id': 1, 'b': [7, [{'level': 1}]]}, {'_id': 2}]"},
      {"[{'$redact': '$$PRUNE'}]", "[]"},
      {"[{'$redact': '$$KEEP'}, {'$project': {'_id': 1}}]", "[{'_id': 1}, {'_id': 2}]"},
  });
  refuse({
      {"[{'$redact': '$level'}]", 17053,
       "$redact's expression should not return anything aside from the variables $$KEEP, "
       "$$DESCEND, "
       "and $$PRUNE, but returned 1"},
      {"[{'$redact': '$$OTHER'}]", 17276, "Use of undefined variable: OTHER"},
  });
}

}  // namespace
}  // namespace gridmount::query
