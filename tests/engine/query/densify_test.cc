// Goal: $densify adds the documents that servers add, in their order, with the errors of servers.
//
// Method: tables. The results were taken from mongod 6.0.5.

#include <gtest/gtest.h>

#include "tests/engine/query/pipeline_run.h"
#include "tests/sanitized.h"

namespace gridmount::query {
namespace {

class DensifyTest : public testing::Test {
 protected:
  void expect(const std::vector<PipelineCase>& cases) { expect_results(run, cases); }
  void refuse(const std::vector<PipelineRefusal>& refusals) { expect_refused(run, refusals); }

  static std::string by(const std::string& step, const std::string& bounds,
                        const std::string& further = "") {
    return "[{'$densify': {'field': 'v', 'range': {'step': " + step + ", 'bounds': " + bounds +
           further + "}}}]";
  }
  static std::string by_p(const std::string& step, const std::string& bounds) {
    return "[{'$densify': {'field': 'v', 'partitionByFields': ['p'], 'range': {'step': " + step +
           ", 'bounds': " + bounds + "}}}]";
  }

  FakePipelineStorage storage;
  PipelineRun run{storage};
};

TEST_F(DensifyTest, Bounds) {
  storage.set("c",
              "[{'_id': 0, 'v': 1}, {'_id': 1, 'v': 4.5}, {'_id': 2, 'v': 7}, {'_id': 3},"
              " {'_id': 4, 'v': null}, {'_id': 5, 'v': 9}]");
  const std::string without = "{'_id': 3}, {'_id': 4, 'v': null}, ";
  expect({
      {by("2", "'full'"), "[" + without +
                              "{'_id': 0, 'v': 1}, {'v': 3}, {'_id': 1, 'v': 4.5}, {'v': 5},"
                              " {'_id': 2, 'v': 7}, {'_id': 5, 'v': 9}]"},
      {by("2", "[0, 6]"), "[" + without +
                              "{'v': 0}, {'_id': 0, 'v': 1}, {'v': 2}, {'v': 4}, {'_id': 1, 'v': "
                              "4.5}, {'_id': 2, 'v': 7}, {'_id': 5, 'v': 9}]"},
      {by("2", "[4, 12]"), "[" + without +
                               "{'_id': 0, 'v': 1}, {'v': 4}, {'_id': 1, 'v': 4.5}, {'v': 6},"
                               " {'_id': 2, 'v': 7}, {'v': 8}, {'_id': 5, 'v': 9}, {'v': 10}]"},
      {by("3", "[3, 3]"), "[" + without +
                              "{'_id': 0, 'v': 1}, {'v': 3}, {'_id': 1, 'v': 4.5}, {'_id': 2, 'v': "
                              "7}, {'_id': 5, 'v': 9}]"},
      {by("2", "[100, 104]"), "[" + without +
                                  "{'_id': 0, 'v': 1}, {'_id': 1, 'v': 4.5}, {'_id': 2, 'v': 7},"
                                  " {'_id': 5, 'v': 9}, {'v': 100}, {'v': 102}]"},
      {by("2", "[-10, -6]"), "[" + without +
                                 "{'v': -10}, {'v': -8}, {'_id': 0, 'v': 1}, {'_id': 1, 'v': 4.5},"
                                 " {'_id': 2, 'v': 7}, {'_id': 5, 'v': 9}]"},
  });
}

TEST_F(DensifyTest, Partitions) {
  storage.set("c",
              "[{'_id': 0, 'v': 1, 'p': 'a'}, {'_id': 1, 'v': 4.5, 'p': 'a'},"
              " {'_id': 2, 'v': 7, 'p': 'b'}, {'_id': 3, 'p': 'a'}, {'_id': 5, 'v': 9, 'p': 'b'}]");
  expect({
      {by_p("2", "'partition'"),
       "[{'_id': 3, 'p': 'a'}, {'_id': 0, 'v': 1, 'p': 'a'}, {'p': 'a', 'v': 3}, {'_id': 1, 'v': "
       "4.5, 'p': 'a'}, {'_id': 2, 'v': 7, 'p': 'b'}, {'_id': 5, 'v': 9, 'p': 'b'}]"},
      {by_p("2", "'full'"),
       "[{'_id': 3, 'p': 'a'}, {'_id': 0, 'v': 1, 'p': 'a'}, {'p': 'a', 'v': 3}, {'_id': 1, 'v': "
       "4.5, 'p': 'a'}, {'p': 'b', 'v': 1}, {'p': 'b', 'v': 3}, {'p': 'b', 'v': 5}, {'_id': 2, "
       "'v': 7, 'p': 'b'}, {'_id': 5, 'v': 9, 'p': 'b'}, {'p': 'a', 'v': 5}, {'p': 'a', 'v': 7},"
       " {'p': 'a', 'v': 9}]"},
      {by_p("2", "[0, 6]"),
       "[{'_id': 3, 'p': 'a'}, {'p': 'a', 'v': 0}, {'_id': 0, 'v': 1, 'p': 'a'}, {'p': 'a', 'v': "
       "2}, {'p': 'a', 'v': 4}, {'_id': 1, 'v': 4.5, 'p': 'a'}, {'p': 'b', 'v': 0}, {'p': 'b', "
       "'v': 2}, {'p': 'b', 'v': 4}, {'_id': 2, 'v': 7, 'p': 'b'}, {'_id': 5, 'v': 9, 'p': 'b'}]"},
  });
}

TEST_F(DensifyTest, Partitions_NullIsNotMissing_AndEqualNumbersAreOne) {
  storage.set("c",
              "[{'_id': 0, 'v': 1, 'p': null}, {'_id': 1, 'v': 3}, {'_id': 2, 'v': 5, 'p': null},"
              " {'_id': 3, 'v': 7}]");
  expect({{by_p("1", "'partition'"),
           "[{'_id': 0, 'v': 1, 'p': null}, {'_id': 1, 'v': 3}, {'p': null, 'v': 2}, {'p': null, "
           "'v': 3}, {'p': null, 'v': 4}, {'_id': 2, 'v': 5, 'p': null}, {'v': 4}, {'v': 5}, {'v': "
           "6}, {'_id': 3, 'v': 7}]"}});
  storage.set("c", "[{'_id': 0, 'v': 1, 'p': 1}, {'_id': 1, 'v': 3, 'p': 1.0}]");
  expect({{by_p("1", "'partition'"),
           "[{'_id': 0, 'v': 1, 'p': 1}, {'p': 1.0, 'v': 2}, {'_id': 1, 'v': 3, 'p': 1.0}]"}});
}

TEST_F(DensifyTest, EqualBounds_AreOneValueBeforeADocument) {
  storage.set("c", "[{'_id': 0, 'v': 1}, {'_id': 1, 'v': 2}, {'_id': 2, 'v': 3}]");
  const std::string unchanged = "[{'_id': 0, 'v': 1}, {'_id': 1, 'v': 2}, {'_id': 2, 'v': 3}]";
  expect({{by("1", "[2, 2]"), unchanged},
          {by("1", "[4, 4]"), unchanged},
          {by("1", "[0, 0]"), "[{'v': 0}, " + unchanged.substr(1)}});
  storage.set("c", "[]");
  expect({{by("1", "[2, 2]"), "[{'v': 2}]"}, {by_p("1", "[2, 2]"), "[{'v': 2}]"}});
}

TEST_F(DensifyTest, ValuesAfterTheBounds_MayBeOfAnyType) {
  storage.set("c", "[{'_id': 0, 'v': 9}, {'_id': 1, 'v': true}]");
  expect({{by("2", "[5, 8]"), "[{'v': 5}, {'v': 7}, {'_id': 0, 'v': 9}, {'_id': 1, 'v': true}]"}});
  refuse({{by("2", "[5, 12]"), 5733201, "Densify field type must be numeric or a date"}});
}

TEST_F(DensifyTest, NoDocuments) {
  storage.set("c", "[{'_id': 0, 'p': 'a'}]");
  expect({
      {by("1", "[1, 3]"), "[{'_id': 0, 'p': 'a'}, {'v': 1}, {'v': 2}]"},
      {by_p("1", "[1, 3]"), "[{'_id': 0, 'p': 'a'}, {'v': 1}, {'v': 2}]"},
      {by("1", "'full'"), "[{'_id': 0, 'p': 'a'}]"},
      {by_p("1", "'partition'"), "[{'_id': 0, 'p': 'a'}]"},
  });
}

TEST_F(DensifyTest, NestedFields_AndTypesOfNumbers) {
  storage.set("c",
              "[{'_id': 0, 'a': {'v': 1, 'w': 2}, 'p': {'q': 1}}, {'_id': 1, 'a': {'v': 3}, 'p': "
              "{'q': 1}}, {'_id': 2, 'a': [{'v': 1}]}]");
  expect(
      {{"[{'$densify': {'field': 'a.v', 'partitionByFields': ['p.q'], 'range': {'step': 1, "
        "'bounds': 'full'}}}, {'$match': {'p': {'$exists': true}}}]",
        "[{'_id': 0, 'a': {'v': 1, 'w': 2}, 'p': {'q': 1}}, {'p': {'q': 1}, 'a': {'v': 2}},"
        " {'_id': 1, 'a': {'v': 3}, 'p': {'q': 1}}]"}});
  storage.set("c", "[{'_id': 0, 'v': 2147483646}, {'_id': 1, 'v': 2147483649}]");
  expect({{by("1", "'full'"),
           "[{'_id': 0, 'v': 2147483646}, {'v': 2147483647}, {'v': {'$numberLong': '2147483648'}},"
           " {'_id': 1, 'v': 2147483649}]"}});
  storage.set("c", "[{'_id': 0, 'v': 1}, {'_id': 1, 'v': 2}]");
  expect({{by("0.5", "'full'"), "[{'_id': 0, 'v': 1}, {'v': 1.5}, {'_id': 1, 'v': 2}]"},
          {by("{'$numberDecimal': '0.5'}", "'full'"),
           "[{'_id': 0, 'v': 1}, {'v': {'$numberDecimal': '1.5'}}, {'_id': 1, 'v': 2}]"}});
}

TEST_F(DensifyTest, Dates_StepByStep) {
  storage.set("c",
              "[{'_id': 0, 'v': {'$date': '2020-01-31T00:00:00Z'}}, {'_id': 1, 'v': {'$date': "
              "'2020-04-30T05:00:00Z'}}]");
  const std::string first = "{'_id': 0, 'v': {'$date': '2020-01-31T00:00:00Z'}}";
  const std::string last = "{'_id': 1, 'v': {'$date': '2020-04-30T05:00:00Z'}}";
  expect({
      {by("1", "'full'", ", 'unit': 'month'"),
       "[" + first +
           ", {'v': {'$date': '2020-02-29T00:00:00Z'}}, {'v': {'$date': '2020-03-29T00:00:00Z'}},"
           " {'v': {'$date': '2020-04-29T00:00:00Z'}}, " +
           last + "]"},
      {by("40.0", "[{'$date': '2020-01-01T00:00:00Z'}, {'$date': '2020-03-03T00:00:00Z'}]",
          ", 'unit': 'day'"),
       "[{'v': {'$date': '2020-01-01T00:00:00Z'}}, " + first +
           ", {'v': {'$date': '2020-02-10T00:00:00Z'}}, " + last + "]"},
  });
}

TEST_F(DensifyTest, RefusedSpecifications) {
  storage.set("c", "[{'_id': 0, 'v': 1}]");
  const std::string day = ", 'unit': 'day'";
  const std::string dates =
      "[{'$date': '2020-01-01T00:00:00Z'}, {'$date': '2020-01-03T00:00:00Z'}]";
  refuse({
      {"[{'$densify': 5}]", 9, "The $densify stage specification must be an object, found int"},
      {"[{'$densify': {'field': 'v'}}]", 40414,
       "BSON field '$densify.range' is missing but a required field"},
      {"[{'$densify': {'range': {'step': 1, 'bounds': 'full'}}}]", 40414,
       "BSON field '$densify.field' is missing but a required field"},
      {"[{'$densify': {'field': 'v', 'range': {'step': 1}}}]", 40414,
       "BSON field '$densify.range.bounds' is missing but a required field"},
      {"[{'$densify': {'field': 'v', 'range': {'bounds': 'full'}}}]", 40414,
       "BSON field '$densify.range.step' is missing but a required field"},
      {"[{'$densify': {'field': '$v', 'range': {'step': 1, 'bounds': 'full'}}}]", 16410,
       "FieldPath field names may not start with '$'."},
      {"[{'$densify': {'field': 5, 'range': {'step': 1, 'bounds': 'full'}}}]", 14,
       "BSON field '$densify.field' is the wrong type 'int', expected type 'string'"},
      {"[{'$densify': {'field': 'v', 'x': 1, 'range': {'step': 1, 'bounds': 'full'}}}]", 40415,
       "BSON field '$densify.x' is an unknown field."},
      {"[{'$densify': {'field': 'v', 'partitionByFields': 'p', 'range': {'step': 1, 'bounds': "
       "'full'}}}]",
       14,
       "BSON field '$densify.partitionByFields' is the wrong type 'string', expected type "
       "'array'"},
      {"[{'$densify': {'field': 'v', 'partitionByFields': [5], 'range': {'step': 1, 'bounds': "
       "'full'}}}]",
       14,
       "BSON field '$densify.partitionByFields.0' is the wrong type 'int', expected type "
       "'string'"},
      {by("1", "'partition'"), 5733408, "One cannot specify the bounds as 'partition' without"},
      {by("0", "'full'"), 5733401, "The step parameter in a range statement must be a strictly"},
      {by("{'$numberDouble': 'NaN'}", "'full'"), 5733401, "The step parameter in a range"},
      {by("'x'", "'full'"), 14, "BSON field '$densify.range.step' is the wrong type 'string'"},
      {by("1", "'foo'"), 5946802, "Bounds string must either be 'full' or 'partition'"},
      {by("1", "5"), 5733404, "The bounds in a range statement must be the string 'full'"},
      {by("1", "[1]"), 5733403, "A bounding array in a range statement must have exactly two"},
      {by("1", "[1, 'x']"), 5733406, "A bounding array must contain either both dates or both"},
      {by("1", "['a', 'b']"), 5946800, "Explicit bounds must be numeric or dates"},
      {by("1", "[4, 3]"), 5733402, "A bounding array must be an ascending array"},
      {by("1", "[1.5, 3]"), 5876900, "Upper bound, lower bound, and step must all have the same"},
      {by("1", "[1, 3]", day), 5733409, "Numeric bounds may not have unit parameter"},
      {by("1", dates), 5733410, "A bounding array of dates must specify a unit"},
      {by("1.5", dates, day), 6586400, "The step parameter in a range statement must be a whole"},
      {by("1", "'full'", ", 'unit': 'xx'"), 9, "unknown time unit value: xx"},
  });
}

TEST_F(DensifyTest, RefusedValues) {
  storage.set("c", "[{'_id': 0, 'v': 1}, {'_id': 1, 'v': 'x'}]");
  refuse({{by("1", "'full'"), 5733201, "Densify field type must be numeric or a date"}});
  storage.set("c", "[{'_id': 0, 'v': 1}]");
  refuse({{by("1", "'full'", ", 'unit': 'day'"), 6053600,
           "Encountered numeric densify value in collection when step has a date unit."}});
  storage.set("c", "[{'_id': 0, 'v': {'$date': '2020-01-31T00:00:00Z'}}]");
  refuse({{by("1", "'full'"), 6053600,
           "Encountered date densify value in collection when step does not have a date unit."}});
  storage.set("c", "[{'_id': 0, 'v': 1, 'p': 1}, {'_id': 1, 'v': 3, 'p': 1}]");
  refuse(
      {{"[{'$densify': {'field': 'v', 'partitionByFields': ['v'], 'range': {'step': 1, "
        "'bounds': 'full'}}}]",
        5733306, "DocGenerator cannot include field that is being densified"}});
}

TEST_F(DensifyTest, MadeDocuments_HaveALimit) {
  if (kSanitized) GTEST_SKIP() << "takes long under sanitizers";
  storage.set("c", "[{'_id': 0, 'v': 0}, {'_id': 1, 'v': {'$numberDouble': 'Infinity'}}]");
  refuse({{by("1", "'full'"), 5897900,
           "Generated 500001 documents in $densify, which is over the limit of 500000."}});
}

// The partitions have the same limit (6007200), but they exceed it only if an index gives the
// order.
TEST_F(DensifyTest, Sort_HasItsMemoryLimit) {
  run.memory_bytes_max = 1'000;
  std::string documents = "{'_id': 0, 'v': 0}";
  for (int i = 1; i < 60; ++i) {
    documents += ", {'_id': " + std::to_string(i) + ", 'v': " + std::to_string(i) + "}";
  }
  storage.set("c", "[" + documents + "]");
  refuse(
      {{"[{'$limit': 100}, {'$densify': {'field': 'v', 'range': {'step': 1, 'bounds': 'full'}}}]",
        292, "Sort exceeded memory limit"}});
}

}  // namespace
}  // namespace gridmount::query
