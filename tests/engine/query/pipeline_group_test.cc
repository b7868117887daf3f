// Goal: $group with its accumulators, $bucket, $bucketAuto and $sortByCount produce what MongoDB's
// manual says.
// Method: tables.

#include <gtest/gtest.h>

#include "tests/engine/query/pipeline_run.h"

namespace gridmount::query {
namespace {

class PipelineGroupTest : public testing::Test {
 protected:
  void expect(const std::vector<PipelineCase>& cases) { expect_results(run, cases); }
  void refuse(const std::vector<PipelineRefusal>& refusals) { expect_refused(run, refusals); }

  // {_id: null, r: accumulator}
  void expect_accumulated(const std::vector<std::pair<std::string, std::string>>& cases) {
    for (const auto& [accumulator, result] : cases) {
      EXPECT_EQ(run.shown("[{'$group': {'_id': null, 'r': " + accumulator + "}}]"),
                show_expected("[{'_id': null, 'r': " + result + "}]"))
          << accumulator;
    }
  }

  FakePipelineStorage storage;
  PipelineRun run{storage};
};

TEST_F(PipelineGroupTest, Ids) {
  storage.set(
      "c",
      "[{'_id': 1, 'a': 1, 'b': {'x': 1}}, {'_id': 2, 'a': 1.0, 'b': {'x': {'$numberLong': '1'}}},"
      " {'_id': 3, 'a': null}, {'_id': 4}, {'_id': 5, 'a': [1, 2]}, {'_id': 6, 'a': 'x', 'b': "
      "{'x': 1, 'y': 2}}, {'_id': 7, 'a': {'$numberDecimal': '1.0'}}]");
  expect({
      // Equal numbers form one group, with the value of the first. Null and missing are one group.
      {"[{'$group': {'_id': '$a', 'n': {'$sum': 1}}}]",
       "[{'_id': 1, 'n': 3}, {'_id': null, 'n': 2}, {'_id': [1, 2], 'n': 1}, {'_id': 'x', 'n': "
       "1}]"},
      {"[{'$group': {'_id': '$b', 'n': {'$sum': 1}}}]",
       "[{'_id': {'x': 1}, 'n': 2}, {'_id': null, 'n': 4}, {'_id': {'x': 1, 'y': 2}, 'n': 1}]"},
      {"[{'$group': {'_id': {'k': '$b.x', 'l': '$no'}, 'n': {'$count': {}}}}]",
       "[{'_id': {'k': 1}, 'n': 3}, {'_id': {}, 'n': 4}]"},
      // If the _id has only one field, a missing value of the field is null.
      {"[{'$group': {'_id': {'k': '$b.x'}, 'n': {'$count': {}}}}]",
       "[{'_id': {'k': 1}, 'n': 3}, {'_id': {'k': null}, 'n': 4}]"},
      {"[{'$group': {'_id': {'k': {'l': '$b.x'}}, 'n': {'$count': {}}}}]",
       "[{'_id': {'k': {'l': 1}}, 'n': 3}, {'_id': {'k': {}}, 'n': 4}]"},
      {"[{'$group': {'_id': 5}}]", "[{'_id': 5}]"},
      {"[{'$match': {'a': 'none'}}, {'$group': {'_id': null, 'n': {'$sum': 1}}}]", "[]"},
      {"[{'$group': {'n': {'$sum': 1}, '_id': {'$mod': ['$_id', 2]}, 'ids': {'$push': '$_id'}}}]",
       "[{'_id': 1, 'n': 4, 'ids': [1, 3, 5, 7]}, {'_id': 0, 'n': 3, 'ids': [2, 4, 6]}]"},
      // Only the groups' fields that a later stage reads are computed.
      {"[{'$group': {'_id': '$a', 'n': {'$sum': 1}, 'm': {'$max': '$_id'}}}, {'$project': {'m': "
       "1}}]",
       "[{'_id': 1, 'm': 7}, {'_id': null, 'm': 4}, {'_id': [1, 2], 'm': 5}, {'_id': 'x', 'm': "
       "6}]"},
  });
}

TEST_F(PipelineGroupTest, Sums) {
  storage.set("c",
              "[{'_id': 1, 'i': 1, 'l': {'$numberLong': '2'}, 'd': 0.5, 'x': 'text', 'e': "
              "{'$numberDecimal': '0.1'}, 'n': [1, 2], 'm': 2147483647},"
              " {'_id': 2, 'i': 2, 'l': 3, 'd': 1e300, 'x': null, 'e': {'$numberDecimal': '0.2'}, "
              "'m': 1},"
              " {'_id': 3, 'i': 6, 'd': -1e300, 'big': {'$numberLong': '9223372036854775807'}}]");
  expect_accumulated({
      {"{'$sum': '$i'}", "9"},
      {"{'$sum': '$l'}", "{'$numberLong': '5'}"},
      {"{'$sum': '$d'}", "0.0"},
      {"{'$sum': '$x'}", "0"},
      {"{'$sum': '$no'}", "0"},
      {"{'$sum': '$n'}", "0"},
      {"{'$sum': '$e'}", "{'$numberDecimal': '0.3'}"},
      {"{'$sum': '$m'}", "{'$numberLong': '2147483648'}"},
      {"{'$sum': {'$literal': 2.5}}", "7.5"},
      {"{'$count': {}}", "3"},
      {"{'$avg': '$i'}", "3.0"},
      {"{'$avg': '$l'}", "2.5"},
      {"{'$avg': '$x'}", "null"},
      {"{'$avg': '$e'}", "{'$numberDecimal': '0.15'}"},
      {"{'$sum': {'$literal': {'$numberDecimal': '-0'}}}", "{'$numberDecimal': '0'}"},
      {"{'$stdDevPop': '$i'}", "2.160246899469287"},
      {"{'$stdDevSamp': '$i'}", "2.6457513110645907"},
      {"{'$stdDevPop': '$big'}", "0.0"},
      {"{'$stdDevSamp': '$big'}", "null"},
      {"{'$stdDevPop': '$x'}", "null"},
  });
  EXPECT_EQ(run.shown("[{'$group': {'_id': null, 'r': {'$sum': '$big'}, 's': {'$sum': {'$add': "
                      "['$big', 0]}}}}, {'$project': {'_id': 0, 't': {'$type': '$r'}}}]"),
            run.shown("[{'$limit': 1}, {'$replaceWith': {'t': 'long'}}]"));
}

TEST_F(PipelineGroupTest, Values) {
  storage.set("c",
              "[{'_id': 1, 'a': 3, 'b': {'x': 1, 'y': 2}}, {'_id': 2, 'a': null}, {'_id': 3},"
              " {'_id': 4, 'a': 1, 'b': {'y': 3, 'z': 4}}, {'_id': 5, 'a': 'x', 'b': null},"
              " {'_id': 6, 'a': 3.0}]");
  expect_accumulated({
      {"{'$first': '$a'}", "3"},
      {"{'$first': '$no'}", "null"},
      {"{'$last': '$a'}", "3.0"},
      {"{'$last': '$b'}", "null"},
      {"{'$min': '$a'}", "1"},
      {"{'$max': '$a'}", "'x'"},
      {"{'$min': '$no'}", "null"},
      {"{'$push': '$a'}", "[3, null, 1, 'x', 3.0]"},
      {"{'$push': {'k': '$a'}}", "[{'k': 3}, {'k': null}, {}, {'k': 1}, {'k': 'x'}, {'k': 3.0}]"},
      {"{'$push': '$no'}", "[]"},
      {"{'$addToSet': '$a'}", "[3, null, 1, 'x']"},
      {"{'$mergeObjects': '$b'}", "{'x': 1, 'y': 3, 'z': 4}"},
      {"{'$mergeObjects': '$no'}", "{}"},
      {"{'$firstN': {'input': '$a', 'n': 3}}", "[3, null, null]"},
      {"{'$firstN': {'input': '$_id', 'n': 9}}", "[1, 2, 3, 4, 5, 6]"},
      {"{'$lastN': {'input': '$a', 'n': 3}}", "[1, 'x', 3.0]"},
      {"{'$minN': {'input': '$a', 'n': 2}}", "[1, 3]"},
      {"{'$maxN': {'input': '$a', 'n': 2}}", "['x', 3]"},
      {"{'$maxN': {'input': '$a', 'n': {'$add': [1, 8]}}}", "['x', 3, 3.0, 1]"},
      {"{'$top': {'output': '$_id', 'sortBy': {'a': 1}}}", "2"},
      {"{'$top': {'output': ['$_id', '$a'], 'sortBy': {'a': -1, '_id': -1}}}", "[5, 'x']"},
      {"{'$top': {'output': '$no', 'sortBy': {'_id': 1}}}", "null"},
      {"{'$topN': {'output': '$_id', 'sortBy': {'a': -1, '_id': 1}, 'n': 3}}", "[5, 1, 6]"},
      {"{'$bottom': {'output': '$_id', 'sortBy': {'a': 1, '_id': 1}}}", "5"},
      {"{'$bottomN': {'output': '$_id', 'sortBy': {'a': 1, '_id': 1}, 'n': 3}}", "[1, 6, 5]"},
      {"{'$bottomN': {'output': '$_id', 'sortBy': {'no': 1}, 'n': 2}}", "[1, 2]"},
      {"{'$bottom': {'output': '$_id', 'sortBy': {'no': 1}}}", "1"},
      {"{'$topN': {'output': '$_id', 'sortBy': {'no': 1}, 'n': 2}}", "[1, 2]"},
  });
  expect({
      // n depends on the group's own _id.
      {"[{'$group': {'_id': {'n': {'$mod': ['$_id', 2]}}, 'r': {'$firstN': {'input': '$_id', 'n': "
       "{'$add': ['$n', 1]}}}}}]",
       "[{'_id': {'n': 1}, 'r': [1, 3]}, {'_id': {'n': 0}, 'r': [2]}]"},
      {"[{'$sort': {'a': -1, '_id': 1}}, {'$group': {'_id': null, 'f': {'$first': '$_id'}, 'l': "
       "{'$last': '$_id'}}}]",
       "[{'_id': null, 'f': 5, 'l': 3}]"},
  });
}

// $top and similar accumulators sort by the values of expressions. The results were taken from
// mongod 6.0.5.
TEST_F(PipelineGroupTest, TopOfArrays_SortsByExpressions) {
  storage.set("c",
              "[{'_id': 1, 'a': [{'b': 1, 'c': 1}]}, {'_id': 2, 'a': []},"
              " {'_id': 3, 'a': {'b': -1}}, {'_id': 4}]");
  const auto top = [](const std::string& sort) {
    return "[{'$group': {'_id': null, 'r': {'$topN': {'output': '$_id', 'n': 9, 'sortBy': " + sort +
           "}}}}]";
  };
  expect({
      {top("{'a.b': 1, '_id': 1}"), "[{'_id': null, 'r': [2, 4, 3, 1]}]"},
      // Arrays are compared as a whole: they come after documents.
      {top("{'a': 1}"), "[{'_id': null, 'r': [2, 4, 3, 1]}]"},
      {top("{'a.0': 1, '_id': -1}"), "[{'_id': null, 'r': [2, 1, 4, 3]}]"},
      {"[{'$match': {'_id': {'$in': [2, 4]}}}, {'$setWindowFields': {'output': {'r': {'$topN': "
       "{'output': '$_id', 'n': 9, 'sortBy': {'a.b': 1, '_id': -1}}}}}}, {'$project': {'r': 1}}]",
       "[{'_id': 2, 'r': [2, 4]}, {'_id': 4, 'r': [2, 4]}]"},
  });
  // All documents but the last have the same key. The last document takes the place of the oldest.
  storage.set("c", "[{'_id': 1}, {'_id': 2}, {'_id': 3}, {'_id': 4, 'k': 1}]");
  expect({
      {"[{'$group': {'_id': null, 'r': {'$bottomN': {'output': '$_id', 'n': 3, 'sortBy': {'k': "
       "1}}}}}]",
       "[{'_id': null, 'r': [2, 3, 4]}]"},
      {"[{'$group': {'_id': null, 'r': {'$bottomN': {'output': '$_id', 'n': 2, 'sortBy': {'no': "
       "1}}}}}]",
       "[{'_id': null, 'r': [1, 2]}]"},
      {"[{'$group': {'_id': null, 'r': {'$topN': {'output': '$_id', 'n': 3, 'sortBy': {'k': "
       "-1}}}}}]",
       "[{'_id': null, 'r': [4, 1, 2]}]"},
  });
}

TEST_F(PipelineGroupTest, TopByAFieldOfADbRef_IsByThatField) {
  storage.set("c", "[{'_id': 1, 'a': [{'$id': 1}]}, {'_id': 2, 'a': []}]");
  expect(
      {{"[{'$group': {'_id': null, 'r': {'$topN': {'output': '$_id', 'n': 9, 'sortBy': {'$id': "
        "1, 'a.$id': 1}}}}}]",
        "[{'_id': null, 'r': [2, 1]}]"}});
}

TEST_F(PipelineGroupTest, TopOfParallelArrays_IsRefused) {
  storage.set("c", "[{'_id': 1, 'a': [{'b': 1, 'c': 1}]}]");
  const auto top = [](const std::string& sort) {
    return "[{'$group': {'_id': null, 'r': {'$topN': {'output': '$_id', 'n': 9, 'sortBy': " + sort +
           "}}}}]";
  };
  refuse({
      {top("{'a.b': 1, 'a.c': 1}"), 2, "cannot sort with keys that are parallel arrays"},
      {"[{'$setWindowFields': {'output': {'r': {'$top': {'output': '$_id', 'sortBy': {'a.b': 1, "
       "'a': 1}}}}}}]",
       2, "cannot sort with keys that are parallel arrays"},
  });
}

TEST_F(PipelineGroupTest, Refused) {
  storage.set("c", "[{'_id': 1, 'a': 3}]");
  refuse({
      {"[{'$group': 5}]", 15947, "a group's fields must be specified in an object"},
      {"[{'$group': {'a': {'$sum': 1}}}]", 15955, "a group specification must include an _id"},
      {"[{'$group': {'_id': 1, '_id': 2}}]", 15948, "a group's _id may only be specified once"},
      {"[{'$group': {'_id': 1, 'a': '$x'}}]", 40234, "The field 'a' must be an accumulator object"},
      {"[{'$group': {'_id': 1, 'a': {}}}]", 40234, "The field 'a' must be an accumulator object"},
      {"[{'$group': {'_id': 1, 'a': {'b': 1}}}]", 40234,
       "The field 'a' must be an accumulator object"},
      {"[{'$group': {'_id': 1, 'a.b': {'$sum': 1}}}]", 40235,
       "The field name 'a.b' cannot contain '.'"},
      {"[{'$group': {'_id': 1, '$a': {'$sum': 1}}}]", 40236, "cannot be an operator name"},
      {"[{'$group': {'_id': 1, 'a': {'$sum': 1, '$avg': 1}}}]", 40238,
       "must specify one accumulator"},
      {"[{'$group': {'_id': 1, 'a': {'$no': 1}}}]", 15952, "unknown group operator '$no'"},
      {"[{'$group': {'_id': 1, 'a': {'$sum': [1, 2]}}}]", 40237,
       "The $sum accumulator is a unary operator"},
      {"[{'$group': {'_id': {'$no': 1}}}]", 168, "Unrecognized expression '$no'"},
      {"[{'$group': {'_id': {'a': 1}}}]", 17390, "does not support inclusion-style expressions"},
      {"[{'$group': {'_id': {'x': '$a', 'a': true}}}]", 17390, "inclusion-style"},
      {"[{'$group': {'_id': 1, 'a': {'$count': 1}}}]", 9, "$count takes no arguments"},
      {"[{'$group': {'_id': 1, 'a': {'$mergeObjects': '$a'}}}]", 40400,
       "$mergeObjects requires object inputs"},
      {"[{'$group': {'_id': 1, 'a': {'$firstN': 5}}}]", 5787801, "specification must be an object"},
      {"[{'$group': {'_id': 1, 'a': {'$minN': 5}}}]", 5787900, "specification must be an object"},
      {"[{'$group': {'_id': 1, 'a': {'$firstN': {'input': 1}}}}]", 5787906,
       "Missing value for 'n'"},
      {"[{'$group': {'_id': 1, 'a': {'$firstN': {'n': 1}}}}]", 5787907,
       "Missing value for 'input'"},
      {"[{'$group': {'_id': 1, 'a': {'$firstN': {'n': 1, 'x': 1}}}}]", 5787901, "Unknown argument"},
      {"[{'$group': {'_id': 1, 'a': {'$firstN': {'input': 1, 'n': 'x'}}}}]", 5787902,
       "integral type"},
      {"[{'$group': {'_id': 1, 'a': {'$firstN': {'input': 1, 'n': 1.5}}}}]", 5787903,
       "integral type"},
      {"[{'$group': {'_id': 1, 'a': {'$firstN': {'input': 1, 'n': 0}}}}]", 5787908,
       "greater than 0"},
      {"[{'$group': {'_id': 1, 'a': {'$top': 5}}}]", 5788001, "specification must be an object"},
      {"[{'$group': {'_id': 1, 'a': {'$top': {'output': 1, 'sortBy': {'a': 1}, 'n': 1}}}}]",
       5788002, "'n'"},
      {"[{'$group': {'_id': 1, 'a': {'$topN': {'output': 1, 'sortBy': {'a': 1}}}}}]", 5788003,
       "'n'"},
      {"[{'$group': {'_id': 1, 'a': {'$top': {'sortBy': {'a': 1}}}}}]", 5788004, "'output'"},
      {"[{'$group': {'_id': 1, 'a': {'$top': {'output': 1}}}}]", 5788005, "'sortBy'"},
      {"[{'$group': {'_id': 1, 'a': {'$top': {'output': 1, 'sortBy': 5}}}}]", 10065,
       "expected an object (sortBy)"},
  });
}

TEST_F(PipelineGroupTest, SortByCount) {
  storage.set("c",
              "[{'_id': 1, 'a': 'x'}, {'_id': 2, 'a': 'y'}, {'_id': 3, 'a': 'y'}, {'_id': 4}]");
  expect({
      {"[{'$sortByCount': '$a'}, {'$limit': 1}]", "[{'_id': 'y', 'count': 2}]"},
      {"[{'$sortByCount': {'$type': '$a'}}]",
       "[{'_id': 'string', 'count': 3}, {'_id': 'missing', 'count': 1}]"},
  });
  refuse({
      {"[{'$sortByCount': 5}]", 40149, "must be specified as a string or as an object"},
      {"[{'$sortByCount': 'a'}]", 40148, "$-prefixed path"},
      {"[{'$sortByCount': {'a': 1}}]", 40147, "$-prefixed path"},
  });
}

TEST_F(PipelineGroupTest, Bucket) {
  storage.set(
      "c",
      "[{'_id': 1, 'a': 5}, {'_id': 2, 'a': 15}, {'_id': 3, 'a': 10}, {'_id': 4, 'a': 25.5},"
      " {'_id': 5}, {'_id': 6, 'a': 'x'}, {'_id': 7, 'a': 0}]");
  expect({
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 10, 20, 30], 'default': 'other'}}]",
       "[{'_id': 0, 'count': 2}, {'_id': 10, 'count': 2}, {'_id': 20, 'count': 1}, {'_id': "
       "'other', "
       "'count': 2}]"},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [10, 20], 'default': -1, 'output': {'ids': "
       "{'$push': '$_id'}}}}]",
       "[{'_id': -1, 'ids': [1, 4, 5, 6, 7]}, {'_id': 10, 'ids': [2, 3]}]"},
      {"[{'$match': {'a': {'$lt': 20}}}, {'$bucket': {'groupBy': {'$add': ['$a', 1]}, "
       "'boundaries': "
       "[{'$add': [0, 0]}, 11, 50]}}]",
       "[{'_id': 0, 'count': 2}, {'_id': 11, 'count': 2}]"},
  });
  refuse({
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 10]}}]", 40066,
       "$switch could not find a matching branch"},
      {"[{'$bucket': 5}]", 40201,
       "Argument to $bucket stage must be an object, but found type: int."},
      {"[{'$bucket': {'groupBy': '$a'}}]", 40198, "requires 'groupBy' and 'boundaries'"},
      {"[{'$bucket': {'groupBy': 5, 'boundaries': [0, 1]}}]", 40202,
       "The $bucket 'groupBy' field must be"},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': 5}}]", 40200,
       "must be an array, but found type: int."},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0]}}]", 40192,
       "at least 2 values, but found 1 value(s)."},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, '$a']}}]", 40191,
       "an array of constant values"},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 'x']}}]", 40193,
       "must have the same type"},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [1, 0]}}]", 40194,
       "must be sorted, but elements 0 and 1"},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [1, 1.0]}}]", 40194, "must be sorted"},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 1], 'default': '$a'}}]", 40195,
       "constant expression"},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 9], 'default': 5}}]", 40199,
       "less than the lowest boundary"},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 9], 'output': 5}}]", 40196,
       "must be an object"},
      {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 9], 'x': 5}}]", 40197,
       "Unrecognized option to $bucket: x."},
  });
}

TEST_F(PipelineGroupTest, BucketAuto) {
  std::string documents;
  for (const int a : {7, 3, 1, 9, 5, 8, 2, 4, 6, 10}) {
    documents += "{'_id': " + std::to_string(a + 100) + ", 'a': " + std::to_string(a) + "},";
  }
  documents.pop_back();
  storage.set("c", "[" + documents + "]");
  expect({
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 3}}]",
       "[{'_id': {'min': 1, 'max': 4}, 'count': 3}, {'_id': {'min': 4, 'max': 7}, 'count': 3}, "
       "{'_id': {'min': 7, 'max': 10}, 'count': 4}]"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 1, 'output': {'s': {'$sum': '$a'}, 'f': "
       "{'$first': "
       "'$_id'}}}}]",
       "[{'_id': {'min': 1, 'max': 10}, 's': 55, 'f': 101}]"},
      {"[{'$match': {'a': {'$lt': 3}}}, {'$bucketAuto': {'groupBy': '$a', 'buckets': 5}}]",
       "[{'_id': {'min': 1, 'max': 2}, 'count': 1}, {'_id': {'min': 2, 'max': 2}, 'count': 1}]"},
      // Equal values stay together.
      {"[{'$bucketAuto': {'groupBy': {'$mod': ['$a', 2]}, 'buckets': 5}}]",
       "[{'_id': {'min': 0, 'max': 1}, 'count': 5}, {'_id': {'min': 1, 'max': 1}, 'count': 5}]"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 5, 'granularity': 'POWERSOF2'}}]",
       "[{'_id': {'min': 0.5, 'max': 4}, 'count': 3}, {'_id': {'min': 4, 'max': 8}, 'count': 4}, "
       "{'_id': {'min': 8, 'max': 16}, 'count': 3}]"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 4, 'granularity': 'R5'}}]",
       "[{'_id': {'min': 0.63, 'max': 4.0}, 'count': 3}, {'_id': {'min': 4.0, 'max': 6.3}, "
       "'count': 3}, "
       "{'_id': {'min': 6.3, 'max': 10.0}, 'count': 3}, {'_id': {'min': 10.0, 'max': 16.0}, "
       "'count': 1}]"},
      {"[{'$bucketAuto': {'groupBy': {'$subtract': ['$a', 1]}, 'buckets': 2, 'granularity': "
       "'1-2-5'}}]",
       "[{'_id': {'min': 0, 'max': 5.0}, 'count': 5}, {'_id': {'min': 5.0, 'max': 10.0}, 'count': "
       "5}]"},
      {"[{'$match': {'a': 99}}, {'$bucketAuto': {'groupBy': '$a', 'buckets': 3}}]", "[]"},
  });
  refuse({
      {"[{'$bucketAuto': 5}]", 40240,
       "The argument to $bucketAuto must be an object, but found type: int"},
      {"[{'$bucketAuto': {'groupBy': '$a'}}]", 40246, "requires 'groupBy' and 'buckets'"},
      {"[{'$bucketAuto': {'groupBy': 5, 'buckets': 1}}]", 40239, "'groupBy' field must be"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 'x'}}]", 40241, "must be a numeric value"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 1.5}}]", 40242,
       "representable as a 32-bit integer"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 0}}]", 40243,
       "must be greater than 0, but found: 0"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 1, 'output': 5}}]", 40244,
       "must be an object"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 1, 'x': 5}}]", 40245, "Unrecognized option"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 1, 'granularity': 5}}]", 40261,
       "must be a string"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 1, 'granularity': 'R9'}}]", 40257,
       "Unknown rounding granularity 'R9'"},
      {"[{'$bucketAuto': {'groupBy': '$no', 'buckets': 1, 'granularity': 'R5'}}]", 40258,
       "numeric boundaries only"},
      {"[{'$bucketAuto': {'groupBy': {'$subtract': [1, '$a']}, 'buckets': 1, 'granularity': "
       "'R5'}}]",
       40260, "non-negative numbers only"},
      {"[{'$bucketAuto': {'groupBy': {'$multiply': ['$a', NaN]}, 'buckets': 1, 'granularity': "
       "'R5'}}]",
       40259, "found a NaN"},
      {"[{'$bucketAuto': {'groupBy': '$a', 'buckets': 1, 'output': {'x': {'$firstN': {'input': "
       "'$a', "
       "'n': '$a'}}}}}]",
       4544714, "Can't refer to the group key in $bucketAuto"},
  });
}

// As on servers, a decimal stays as it is if it is larger or smaller than all numbers of the
// series.
TEST_F(PipelineGroupTest, BucketAuto_DecimalsBeyondTheSeries) {
  for (const std::string number : {"Infinity", "9.999E+6144", "1E-6176"}) {
    const std::string decimal = "{'$numberDecimal': '" + number + "'}";
    storage.set("c", "[{'_id': 1, 'a': " + decimal + "}]");
    for (const std::string series : {"R5", "E192", "1-2-5"}) {
      EXPECT_EQ(
          run.shown("[{'$bucketAuto': {'groupBy': '$a', 'buckets': 1, 'granularity': '" + series +
                    "'}}]"),
          show_expected("[{'_id': {'min': " + decimal + ", 'max': " + decimal + "}, 'count': 1}]"))
          << number << " " << series;
    }
  }
}

TEST_F(PipelineGroupTest, Percentiles_OfGroups) {
  storage.set(
      "c",
      "[{'_id': 1, 'k': 'a', 'n': 5}, {'_id': 2, 'k': 'a', 'n': 1.5},"
      " {'_id': 3, 'k': 'a', 'n': 'x'}, {'_id': 4, 'k': 'a', 'n': {'$numberLong': '9'}},"
      " {'_id': 5, 'k': 'a', 'n': [7]}, {'_id': 6, 'k': 'b'}, {'_id': 7, 'k': 'a', 'n': 2}]");
  expect({
      {"[{'$group': {'_id': '$k', 'm': {'$median': {'input': '$n', 'method': 'approximate'}},"
       " 'p': {'$percentile': {'input': '$n', 'p': [0, 0.5, 0.75, 1], 'method': 'approximate'}}}},"
       " {'$sort': {'_id': 1}}]",
       "[{'_id': 'a', 'm': 2.0, 'p': [1.5, 2.0, 5.0, 9.0]},"
       " {'_id': 'b', 'm': null, 'p': [null, null, null, null]}]"},
      {"[{'$bucket': {'groupBy': '$_id', 'boundaries': [1, 5, 9], 'output': {"
       "'m': {'$median': {'input': {'$multiply': ['$_id', 10]}, 'method': 'approximate'}}}}}]",
       "[{'_id': 1, 'm': 20.0}, {'_id': 5, 'm': 60.0}]"},
      {"[{'$bucketAuto': {'groupBy': '$_id', 'buckets': 1, 'output': {"
       "'m': {'$percentile': {'input': '$_id', 'p': [0.9], 'method': 'approximate'}}}}}]",
       "[{'_id': {'min': 1, 'max': 7}, 'm': [7.0]}]"},
  });
  refuse({
      {"[{'$group': {'_id': null, 'x': {'$median': '$n'}}}]", 7436100,
       "specification must be an object; found $median: "},
      {"[{'$group': {'_id': null, 'x': {'$percentile': 5}}}]", 7429703,
       "specification must be an object; found $percentile: 5"},
      {"[{'$group': {'_id': null, 'x': {'$median': {'input': '$n'}}}}]", 40414,
       "BSON field '$median.method' is missing but a required field"},
      {"[{'$group': {'_id': null, 'x': {'$percentile': {'input': '$n', 'method': "
       "'approximate'}}}}]",
       40414, "BSON field '$percentile.p' is missing but a required field"},
      {"[{'$group': {'_id': null, 'x': {'$percentile': {'input': '$n', 'p': [2], 'method': "
       "'approximate'}}}}]",
       7750303, "must be an array of numbers from [0.0, 1.0]"},
      {"[{'$group': {'_id': null, 'x': {'$median': {'input': '$n', 'method': 'exact'}}}}]", 2,
       "Currently only 'approximate' can be used as a percentile 'method'."},
  });
}

TEST_F(PipelineGroupTest, BeyondTheMemory_IsRefused) {
  std::string documents;
  for (int i = 0; i < 300; ++i) {
    documents += "{'_id': " + std::to_string(i) + ", 's': '" + std::string(100, 'x') + "'},";
  }
  documents.pop_back();
  storage.set("c", "[" + documents + "]");
  run.memory_bytes_max = 20000;
  refuse({
      {"[{'$group': {'_id': '$_id'}}]", 292,
       "Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true "
       "to opt in."},
      {"[{'$bucket': {'groupBy': '$_id', 'boundaries': [0, 300], 'output': {'x': {'$push': "
       "'$s'}}}}]",
       292, "memory limit for $group"},
      {"[{'$group': {'_id': null, 'x': {'$push': '$s'}}}]", 292, "memory limit for $group"},
      {"[{'$group': {'_id': null, 'x': {'$addToSet': '$_id'}}}]", 292, "memory limit for $group"},
      {"[{'$group': {'_id': null, 'x': {'$firstN': {'input': '$s', 'n': 999}}}}]", 292,
       "memory limit"},
      {"[{'$group': {'_id': null, 'x': {'$maxN': {'input': '$s', 'n': 999}}}}]", 292,
       "memory limit"},
      {"[{'$group': {'_id': null, 'x': {'$mergeObjects': {'$arrayToObject': [[{'k': {'$toString': "
       "'$_id'}, 'v': 1}]]}}}}]",
       292, "memory limit"},
      {"[{'$project': {'n': {'$range': [0, 10]}}}, {'$unwind': '$n'}, {'$group': {'_id': null, "
       "'x': {'$median': {'input': '$n', 'method': 'approximate'}}}}]",
       146, "$median used too much memory and cannot spill to disk. Memory limit: 20000 bytes"},
      {"[{'$group': {'_id': {'$mod': ['$_id', 2]}, 'x': {'$push': '$s'}}}]", 292,
       "memory limit for $group"},
      {"[{'$unwind': '$s'}, {'$sort': {'s': 1}}]", 292,
       "Sort exceeded memory limit of 20000 bytes, but did not opt in to external sorting. "
       "Aborting operation. Pass allowDiskUse:true to opt in."},
      {"[{'$bucketAuto': {'groupBy': '$_id', 'buckets': 2, 'output': {'x': {'$max': '$s'}}}}]", 292,
       "Sort exceeded memory limit"},
      {"[{'$sample': {'size': 300}}]", 292, "Sort exceeded memory limit"},
      {"[{'$facet': {'x': [{'$match': {}}]}}]", 4031700, "document constructed by $facet is"},
  });
  // Values that are not kept need no memory.
  expect({
      {"[{'$unwind': '$s'}, {'$sort': {'_id': -1}}, {'$limit': 1}, {'$project': {'_id': 1}}]",
       "[{'_id': 299}]"},
      {"[{'$group': {'_id': null, 'x': {'$topN': {'output': '$_id', 'sortBy': {'_id': -1}, 'n': "
       "2}}}}]",
       "[{'_id': null, 'x': [299, 298]}]"},
      {"[{'$group': {'_id': null, 'n': {'$sum': 1}, 'l': {'$lastN': {'input': '$_id', 'n': 1}}}}]",
       "[{'_id': null, 'n': 300, 'l': [299]}]"},
      {"[{'$facet': {'n': [{'$count': 'n'}]}}]", "[{'n': [{'n': 300}]}]"},
      {"[{'$sample': {'size': 5}}, {'$count': 'n'}]", "[{'n': 5}]"},
  });
}

}  // namespace
}  // namespace gridmount::query
