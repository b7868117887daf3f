// Goal: $setWindowFields computes what servers compute, for each function, over each kind of
// window, with the errors of servers. $fill, which is built on $setWindowFields, does the same.
//
// Method: tables. The results were taken from mongod 6.0.5.

#include <gtest/gtest.h>

#include "tests/engine/query/pipeline_run.h"

namespace gridmount::query {
namespace {

class SetWindowFieldsTest : public testing::Test {
 protected:
  void expect(const std::vector<PipelineCase>& cases) { expect_results(run, cases); }
  void refuse(const std::vector<PipelineRefusal>& refusals) { expect_refused(run, refusals); }

  // Runs {output: {r: function}} over the documents in the order of `sort`, and compares the field
  // `r` of the results.
  void expect_window(const std::string& sort,
                     const std::vector<std::pair<std::string, std::string>>& cases) {
    for (const auto& [function, results] : cases) {
      EXPECT_EQ(run.shown("[{'$setWindowFields': {'sortBy': " + sort + ", 'output': {'r': " +
                          function + "}}}, {'$project': {'_id': 0, 'r': 1}}]"),
                show_expected(results))
          << function;
    }
  }

  FakePipelineStorage storage;
  PipelineRun run{storage};
};

TEST_F(SetWindowFieldsTest, Manual_Examples) {
  storage.set("c",
              "[{'_id': 0, 'type': 'elata', 'state': 'CA', 'year': 2020, 'quantity': 120},"
              " {'_id': 1, 'type': 'elata', 'state': 'WA', 'year': 2019, 'quantity': 140},"
              " {'_id': 2, 'type': 'chinensis', 'state': 'CA', 'year': 2019, 'quantity': 162},"
              " {'_id': 3, 'type': 'elata', 'state': 'CA', 'year': 2021, 'quantity': 145},"
              " {'_id': 4, 'type': 'chinensis', 'state': 'WA', 'year': 2020, 'quantity': 104},"
              " {'_id': 5, 'type': 'elata', 'state': 'WA', 'year': 2021, 'quantity': 134}]");
  expect({
      {"[{'$setWindowFields': {'partitionBy': '$state', 'sortBy': {'year': 1}, 'output': {'total': "
       "{'$sum': '$quantity', 'window': {'documents': ['unbounded', 'current']}}}}},"
       " {'$project': {'total': 1}}]",
       "[{'_id': 2, 'total': 162}, {'_id': 0, 'total': 282}, {'_id': 3, 'total': 427},"
       " {'_id': 1, 'total': 140}, {'_id': 4, 'total': 244}, {'_id': 5, 'total': 378}]"},
      {"[{'$setWindowFields': {'partitionBy': '$year', 'sortBy': {'quantity': 1}, 'output': {"
       "'average': {'$avg': '$quantity', 'window': {'documents': [-1, 0]}}, 'most': {'$max': "
       "'$quantity', 'window': {'documents': ['unbounded', 'unbounded']}}}}},"
       " {'$project': {'average': 1, 'most': 1}}]",
       "[{'_id': 1, 'average': 140.0, 'most': 162}, {'_id': 2, 'average': 151.0, 'most': 162},"
       " {'_id': 4, 'average': 104.0, 'most': 120}, {'_id': 0, 'average': 112.0, 'most': 120},"
       " {'_id': 5, 'average': 134.0, 'most': 145}, {'_id': 3, 'average': 139.5, 'most': 145}]"},
  });
}

TEST_F(SetWindowFieldsTest, Functions_OverSlidingAndGrowingWindows) {
  storage.set("c", "[{'_id': 0, 'v': 5}, {'_id': 1, 'v': null}, {'_id': 2}, {'_id': 3, 'v': 2.5}]");
  const std::string sliding = "'window': {'documents': [-1, 0]}}";
  const std::string growing = "'window': {'documents': ['unbounded', 'current']}}";
  const std::string after = "'window': {'documents': [1, 1]}}";
  expect_window(
      "{'_id': 1}",
      {
          {"{'$sum': '$v', " + sliding, "[{'r': 5}, {'r': 5}, {'r': 0}, {'r': 2.5}]"},
          {"{'$sum': '$v', " + growing, "[{'r': 5}, {'r': 5}, {'r': 5}, {'r': 7.5}]"},
          {"{'$sum': '$v', " + after, "[{'r': 0}, {'r': 0}, {'r': 2.5}, {'r': 0}]"},
          {"{'$avg': '$v', " + sliding, "[{'r': 5.0}, {'r': 5.0}, {'r': null}, {'r': 2.5}]"},
          {"{'$count': {}, " + sliding, "[{'r': 1}, {'r': 2}, {'r': 2}, {'r': 2}]"},
          {"{'$min': '$v', " + sliding, "[{'r': 5}, {'r': 5}, {'r': null}, {'r': 2.5}]"},
          {"{'$max': '$v', " + growing, "[{'r': 5}, {'r': 5}, {'r': 5}, {'r': 5}]"},
          {"{'$push': '$v', " + sliding,
           "[{'r': [5]}, {'r': [5, null]}, {'r': [null]}, "
           "{'r': [2.5]}]"},
          {"{'$addToSet': '$v', " + sliding,
           "[{'r': [5]}, {'r': [null, 5]}, {'r': [null]}, "
           "{'r': [2.5]}]"},
          {"{'$first': '$v', " + sliding, "[{'r': 5}, {'r': 5}, {'r': null}, {}]"},
          {"{'$last': '$v', " + growing, "[{'r': 5}, {'r': null}, {}, {'r': 2.5}]"},
          {"{'$stdDevPop': '$v', " + growing, "[{'r': 0.0}, {'r': 0.0}, {'r': 0.0}, {'r': 1.25}]"},
          {"{'$stdDevPop': '$v', " + sliding, "[{'r': 0}, {'r': 0}, {'r': null}, {'r': 0}]"},
          {"{'$minN': {'n': 2, 'input': '$v'}, " + growing,
           "[{'r': [5]}, {'r': [5]}, {'r': [5]}, {'r': [2.5, 5]}]"},
          {"{'$firstN': {'n': 2, 'input': '$v'}, " + sliding,
           "[{'r': [5]}, {'r': [5, null]}, {'r': [null, null]}, {'r': [null, 2.5]}]"},
          {"{'$lastN': {'n': 1, 'input': '$v'}, " + sliding,
           "[{'r': [5]}, {'r': [null]}, {'r': [null]}, {'r': [2.5]}]"},
          {"{'$top': {'output': '$v', 'sortBy': {'_id': -1}}, " + sliding,
           "[{'r': 5}, {'r': null}, {'r': null}, {'r': 2.5}]"},
          {"{'$bottomN': {'n': 2, 'output': '$v', 'sortBy': {'_id': -1}}, " + growing,
           "[{'r': [5]}, {'r': [null, 5]}, {'r': [null, 5]}, {'r': [null, 5]}]"},
          {"{'$locf': '$v'}", "[{'r': 5}, {'r': 5}, {'r': 5}, {'r': 2.5}]"},
          {"{'$expMovingAvg': {'input': '$v', 'alpha': 0.5}}",
           "[{'r': 5.0}, {'r': 5.0}, {'r': 5.0}, {'r': 3.75}]"},
          {"{'$shift': {'output': '$v', 'by': -3, 'default': 'none'}}",
           "[{'r': 'none'}, {'r': 'none'}, {'r': 'none'}, {'r': 5}]"},
          {"{'$linearFill': '$v'}",
           "[{'r': 5}, {'r': 4.166666666666667}, {'r': 3.333333333333333}, {'r': 2.5}]"},
      });
}

TEST_F(SetWindowFieldsTest, Ranks_TellNullFromMissing) {
  storage.set("c",
              "[{'_id': 0, 'v': 1}, {'_id': 1, 'v': null}, {'_id': 2}, {'_id': 3, 'v': 1.0},"
              " {'_id': 4, 'v': 3}]");
  expect_window(
      "{'v': 1}",
      {
          {"{'$rank': {}}", "[{'r': 1}, {'r': 2}, {'r': 3}, {'r': 3}, {'r': 5}]"},
          {"{'$denseRank': {}}", "[{'r': 1}, {'r': 2}, {'r': 3}, {'r': 3}, {'r': 4}]"},
          {"{'$documentNumber': {}}", "[{'r': 1}, {'r': 2}, {'r': 3}, {'r': 4}, {'r': 5}]"},
      });
}

TEST_F(SetWindowFieldsTest, Ranges) {
  storage.set(
      "c",
      "[{'_id': 0, 's': 1, 'v': 1}, {'_id': 1, 's': 2, 'v': 10}, {'_id': 2, 's': 2, 'v': 100},"
      " {'_id': 3, 's': 4.5, 'v': 1000}, {'_id': 4, 's': {'$numberDecimal': '9'}, 'v': "
      "10000}]");
  expect_window("{'s': 1}",
                {
                    {"{'$sum': '$v', 'window': {'range': [-1, 1]}}",
                     "[{'r': 111}, {'r': 111}, {'r': 111}, {'r': 1000}, {'r': 10000}]"},
                    {"{'$sum': '$v', 'window': {'range': ['current', 2.5]}}",
                     "[{'r': 111}, {'r': 1110}, {'r': 1100}, {'r': 1000}, {'r': 10000}]"},
                    {"{'$sum': '$v', 'window': {'range': ['unbounded', -1]}}",
                     "[{'r': 0}, {'r': 1}, {'r': 1}, {'r': 111}, {'r': 1111}]"},
                    {"{'$push': '$v', 'window': {'range': [1, 3]}}",
                     "[{'r': [10, 100]}, {'r': [1000]}, {'r': [1000]}, {'r': []}, {'r': []}]"},
                    {"{'$first': '$v', 'window': {'range': [-2.5, 'unbounded']}}",
                     "[{'r': 1}, {'r': 1}, {'r': 1}, {'r': 10}, {'r': 10000}]"},
                });
}

TEST_F(SetWindowFieldsTest, RangesOfDates) {
  storage.set("c",
              "[{'_id': 0, 's': {'$date': '2020-01-31T00:00:00Z'}, 'v': 1},"
              " {'_id': 1, 's': {'$date': '2020-02-29T00:00:00Z'}, 'v': 10},"
              " {'_id': 2, 's': {'$date': '2020-03-01T00:00:00Z'}, 'v': 100}]");
  expect_window(
      "{'s': 1}",
      {
          {"{'$sum': '$v', 'window': {'range': [0, 1], 'unit': 'month'}}",
           "[{'r': 11}, {'r': 110}, {'r': 100}]"},
          {"{'$sum': '$v', 'window': {'range': [-24, 'current'], 'unit': 'hour'}}",
           "[{'r': 1}, {'r': 10}, {'r': 110}]"},
          {"{'$derivative': {'input': '$v', 'unit': 'day'}, 'window': {'documents': [-1, 0]}}",
           "[{'r': null}, {'r': 0.3103448275862069}, {'r': 90.0}]"},
          {"{'$integral': {'input': '$v', 'unit': 'day'}, 'window': {'documents': [-1, 0]}}",
           "[{'r': 0.0}, {'r': 159.5}, {'r': 55.0}]"},
      });
}

TEST_F(SetWindowFieldsTest, PairsOfNumbers) {
  storage.set(
      "c", "[{'_id': 0, 'x': 1, 'y': 2}, {'_id': 1, 'x': 2, 'y': 3}, {'_id': 2, 'x': 5, 'y': 9}]");
  expect_window(
      "{'x': 1}",
      {
          {"{'$derivative': {'input': '$y'}, 'window': {'documents': [-1, 0]}}",
           "[{'r': null}, {'r': 1.0}, {'r': 2.0}]"},
          {"{'$integral': {'input': '$y'}, 'window': {'documents': ['unbounded', 'current']}}",
           "[{'r': 0}, {'r': 2.5}, {'r': 20.5}]"},
          {"{'$covariancePop': ['$x', '$y'], 'window': {'documents': [-1, 0]}}",
           "[{'r': 0.0}, {'r': 0.25}, {'r': 4.499999999999999}]"},
          {"{'$covarianceSamp': ['$x', '$y'], 'window': {'documents': [-1, 0]}}",
           "[{'r': null}, {'r': 0.5}, {'r': 8.999999999999998}]"},
      });
}

TEST_F(SetWindowFieldsTest, Partitions) {
  storage.set("c",
              "[{'_id': 0, 'p': 1}, {'_id': 1, 'p': null}, {'_id': 2}, {'_id': 3, 'p': 1.0},"
              " {'_id': 4, 'p': 'a'}]");
  expect({
      {"[{'$setWindowFields': {'partitionBy': '$p', 'output': {'r': {'$push': '$_id'}}}}]",
       "[{'_id': 1, 'p': null, 'r': [1, 2]}, {'_id': 2, 'r': [1, 2]}, {'_id': 0, 'p': 1, 'r': [0, "
       "3]}, {'_id': 3, 'p': 1.0, 'r': [0, 3]}, {'_id': 4, 'p': 'a', 'r': [4]}]"},
      {"[{'$setWindowFields': {'partitionBy': {'$type': '$p'}, 'sortBy': {'_id': -1}, 'output': "
       "{'n': {'$documentNumber': {}}}}}, {'$project': {'n': 1}}]",
       "[{'_id': 3, 'n': 1}, {'_id': 0, 'n': 1}, {'_id': 2, 'n': 1}, {'_id': 1, 'n': 1}, {'_id': "
       "4, 'n': 1}]"},
      // A constant is one partition. A null option counts as not given.
      {"[{'$setWindowFields': {'partitionBy': 7, 'sortBy': null, 'output': {'n': {'$count': {}}}}},"
       " {'$project': {'n': 1}}]",
       "[{'_id': 0, 'n': 5}, {'_id': 1, 'n': 5}, {'_id': 2, 'n': 5}, {'_id': 3, 'n': 5}, {'_id': 4,"
       " 'n': 5}]"},
      {"[{'$setWindowFields': {'output': {}}}, {'$count': 'n'}]", "[{'n': 5}]"},
  });
}

TEST_F(SetWindowFieldsTest, OutputPaths_AreSetAsByAddFields) {
  storage.set("c",
              "[{'_id': 0, 'a': [{'b': 1}, {'c': 2}, 3]}, {'_id': 1, 'a': {'b': 2, 'd': 5}},"
              " {'_id': 2, 'a': 7}, {'_id': 3}]");
  expect({
      {"[{'$setWindowFields': {'sortBy': {'_id': 1}, 'output': {'a.b': {'$documentNumber': {}}}}}]",
       "[{'_id': 0, 'a': [{'b': 1}, {'c': 2, 'b': 1}, {'b': 1}]}, {'_id': 1, 'a': {'b': 2, 'd': "
       "5}}, {'_id': 2, 'a': {'b': 3}}, {'_id': 3, 'a': {'b': 4}}]"},
      // A missing result removes the field.
      {"[{'$setWindowFields': {'output': {'a': {'$first': '$none'}}}}, {'$limit': 1}]",
       "[{'_id': 0}]"},
      // The functions see the documents as they came in.
      {"[{'$match': {'_id': {'$gt': 1}}}, {'$setWindowFields': {'sortBy': {'_id': 1}, 'output': "
       "{'_id': {'$sum': '$_id'}, 'a': {'$push': '$_id'}}}}]",
       "[{'_id': 5, 'a': [2, 3]}, {'_id': 5, 'a': [2, 3]}]"},
  });
}

TEST_F(SetWindowFieldsTest, SumsForgetWhatLeft) {
  storage.set(
      "c",
      "[{'_id': 0, 'v': {'$numberDouble': 'Infinity'}}, {'_id': 1, 'v': 0.5}, {'_id': 2, 'v': "
      "{'$numberLong': '-9223372036854775808'}}, {'_id': 3, 'v': 3}, {'_id': 4, 'v': "
      "{'$numberDecimal': '0.1'}}, {'_id': 5, 'v': 4}, {'_id': 6, 'v': 5}]");
  const std::string window = "'window': {'documents': ['current', 'current']}}";
  expect_window("{'_id': 1}",
                {
                    {"{'$sum': '$v', " + window,
                     "[{'r': {'$numberDouble': 'Infinity'}}, {'r': 0.5}, {'r': {'$numberLong': "
                     "'-9223372036854775808'}}, {'r': 3}, {'r': {'$numberDecimal': '0.1'}}, {'r': "
                     "4}, {'r': 5}]"},
                    {"{'$stdDevPop': '$v', " + window,
                     "[{'r': null}, {'r': 0}, {'r': 0}, {'r': 0}, {'r': 0}, {'r': 0}, {'r': 0}]"},
                });
}

TEST_F(SetWindowFieldsTest, Refuses) {
  storage.set("c", "[{'_id': 1, 's': 'x', 'p': [1]}]");
  const auto stage = [](const char* specification) {
    return "[{'$setWindowFields': " + std::string(specification) + "}]";
  };
  const std::vector<std::tuple<const char*, int, const char*>> cases = {
      {"5", 9, "the $setWindowFields stage specification must be an object, found int"},
      {"{}", 40414, "'$setWindowFields.output' is missing but a required field"},
      {"{'output': 5}", 14, "is the wrong type 'int', expected type 'object'"},
      {"{'output': {}, 'x': 1}", 40415, "'$setWindowFields.x' is an unknown field."},
      {"{'output': {'r': 5}}", 9, "The field 'r' must be an object"},
      {"{'output': {'r': {'$no': 1}}}", 9, "Unrecognized window function, $no"},
      {"{'output': {'r': {'x': 1}}}", 9, "Expected a $-prefixed window function, x"},
      {"{'output': {'r': {'$sum': 1, '$avg': 1}}}", 9, "Cannot specify two functions"},
      {"{'output': {'a': {'$sum': 1}, 'a.b': {'$sum': 1}}}", 6307900, "two conflicting paths"},
      {"{'output': {'': {'$sum': 1}}}", 40352, "empty string"},
      {"{'output': {'r': {'$rank': {}}}}", 5371602, "exactly one element"},
      {"{'output': {'r': {'$rank': {}, 'window': {}}}, 'sortBy': {'a': 1}}", 5371601,
       "take no other arguments"},
      {"{'output': {'r': {'$sum': 1, 'window': {'documents': [2, 1]}}}, 'sortBy': {'a': 1}}",
       5339900, "Lower bound must not exceed upper bound: [2, 1]"},
      {"{'output': {'r': {'$sum': 1, 'window': {'documents': [0, 1]}}}}", 5339901,
       "Document-based bounds require a sortBy"},
      {"{'output': {'r': {'$sum': 1, 'window': {'range': [0, 1]}}}}", 5339902,
       "Range-based bounds require sortBy a single field"},
      {"{'output': {'r': {'$sum': 1, 'window': {'range': [0, 1]}}}, 'sortBy': {'s': 1}}", 5429414,
       "Expected the sortBy field to be a number, but it was string"},
      {"{'output': {'r': {'$sum': 1, 'window': {'range': [0, 1], 'unit': 'day'}}}, 'sortBy': {'s': "
       "1}}",
       5429513, "Expected the sortBy field to be a Date, but it was string"},
      {"{'output': {'r': {'$linearFill': '$v'}}}", 605001, "exactly one element"},
      {"{'output': {'r': {'$integral': {'input': '$v', 'unit': 'month'}}}, 'sortBy': {'s': 1}}",
       5490710, "unit must be 'week' or smaller"},
      {"{'output': {'r': {'$firstN': {'n': 0, 'input': 1}}}}", 5787908, "greater than 0"},
      {"{'output': {'r': {'$sum': 1}}, 'partitionBy': '$p'}", 14,
       "An expression used to partition cannot evaluate to value of type array"},
  };
  for (const auto& [specification, code, message] : cases) {
    const std::string stages = stage(specification);
    refuse({{stages.c_str(), code, message}});
  }
}

TEST_F(SetWindowFieldsTest, Fill) {
  storage.set(
      "c",
      "[{'_id': 0, 'p': 1, 'a': 1, 'v': 2}, {'_id': 1, 'p': 1, 'a': 2}, {'_id': 2, 'p': 1, 'a': "
      "4, 'v': 8}, {'_id': 3, 'a': 5, 'v': null}]");
  const auto results = [&](const std::string& fill) {
    return run.shown("[{'$fill': " + fill + "}, {'$project': {'v': 1, 'w': 1}}]");
  };
  EXPECT_EQ(results("{'sortBy': {'a': 1}, 'output': {'v': {'method': 'linear'}}}"),
            show_expected("[{'_id': 0, 'v': 2}, {'_id': 1, 'v': 4.0}, {'_id': 2, 'v': 8}, {'_id': "
                          "3, 'v': null}]"));
  EXPECT_EQ(
      results("{'output': {'w': {'value': '$v'}, 'v': {'method': 'locf'}}}"),
      show_expected("[{'_id': 0, 'v': 2, 'w': 2}, {'_id': 1, 'v': 2, 'w': 2}, {'_id': 2, 'v': "
                    "8, 'w': 8}, {'_id': 3, 'v': 8, 'w': 8}]"));
  EXPECT_EQ(results("{'sortBy': {'a': 1}, 'partitionByFields': ['p'], 'output': {'v': {'method': "
                    "'locf'}}}"),
            show_expected("[{'_id': 3, 'v': null}, {'_id': 0, 'v': 2}, {'_id': 1, 'v': 2}, {'_id': "
                          "2, 'v': 8}]"));
  EXPECT_EQ(results("{'partitionBy': {'p': '$p'}, 'output': {'v': {'value': 7}}}"),
            show_expected("[{'_id': 0, 'v': 2}, {'_id': 1, 'v': 7}, {'_id': 2, 'v': 8}, {'_id': 3, "
                          "'v': 7}]"));
  refuse({
      {"[{'$fill': 5}]", 9, "The $fill stage specification must be an object, found int"},
      {"[{'$fill': {}}]", 40414, "'$fill.output' is missing but a required field"},
      {"[{'$fill': {'output': {}}}]", 6050203, "at least one element"},
      {"[{'$fill': {'output': {'v': 5}}}]", 6050200, "must be an object with exactly one field"},
      {"[{'$fill': {'output': {'v': {'value': 1, 'method': 'locf'}}}}]", 6050201, "not both"},
      {"[{'$fill': {'output': {'v': {'method': 'x'}}}}]", 6050202, "either locf or linear"},
      {"[{'$fill': {'output': {'v': {'x': 1}}}}]", 40415, "'$fill.x' is an unknown field."},
      {"[{'$fill': {'output': {'v': {'value': 1}}, 'partitionBy': {}, 'partitionByFields': []}}]",
       6050204, "Maximum one of"},
      {"[{'$fill': {'output': {'v': {'value': 1}}, 'partitionByFields': [5]}}]", 14,
       "'$fill.partitionByFields.0' is the wrong type 'int', expected type 'string'"},
      {"[{'$fill': {'output': {'v': {'method': 'locf'}}, 'partitionByFields': ['a\\u0000b']}}]",
       16411, "embedded nulls"},
      {"[{'$fill': {'output': {'v': {'method': 'linear'}}}}]", 605001, "exactly one element"},
  });
}

TEST_F(SetWindowFieldsTest, Memory_IsLimited) {
  std::string documents = "[";
  for (int i = 0; i < 400; ++i) {
    documents += (i == 0 ? "" : ",") + ("{'_id': " + std::to_string(i)) + ", 's': '0123456789'}";
  }
  storage.set("c", documents + "]");
  run.memory_bytes_max = 20000;
  refuse({
      {"[{'$setWindowFields': {'sortBy': {'s': 1}, 'output': {'n': {'$documentNumber': {}}}}}]",
       292, "Sort exceeded memory limit of 20000 bytes"},
  });
  // The documents fit, but not the values in the window as well.
  run.memory_bytes_max = 110000;
  refuse({
      {"[{'$setWindowFields': {'sortBy': {'_id': 1}, 'output': {'n': {'$addToSet': {'$concat': "
       "[{'$toString': '$_id'}, '$s', '$s', '$s']}}}}}, {'$count': 'n'}]",
       5414201, "Exceeded memory limit in DocumentSourceSetWindowFields, used"},
  });
}

}  // namespace
}  // namespace gridmount::query
