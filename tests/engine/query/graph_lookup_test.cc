// Goal: $graphLookup finds what MongoDB's manual says, each document once, whatever the shape of
// the graph, and within its memory limit.
// Method: tables, including the manual's examples.

#include <gtest/gtest.h>

#include "tests/engine/query/pipeline_run.h"

namespace gridmount::query {
namespace {

class GraphLookupTest : public testing::Test {
 protected:
  void expect(const std::vector<PipelineCase>& cases) { expect_results(run, cases); }
  // Expects these documents to be reached from the matching documents of `c`, shown as _id and
  // depth.
  void expect_reached(const std::string& match, const std::string& arguments,
                      const std::string& results) {
    EXPECT_EQ(run.shown("[{'$match': " + match +
                        "}, {'$graphLookup': {'from': 'c', 'as': 'r', "
                        "'depthField': 'd', " +
                        arguments +
                        "}}, {'$project': {'r._id': 1, "
                        "'r.d': 1}}]"),
              show_expected(results))
        << arguments;
  }

  FakePipelineStorage storage;
  PipelineRun run{storage};
};

// Manual, "Within a Single Collection".
TEST_F(GraphLookupTest, ReportingHierarchy) {
  storage.set("c",
              "[{'_id': 1, 'name': 'Dev'}, {'_id': 2, 'name': 'Eliot', 'reportsTo': 'Dev'},"
              " {'_id': 3, 'name': 'Ron', 'reportsTo': 'Eliot'},"
              " {'_id': 4, 'name': 'Andrew', 'reportsTo': 'Eliot'},"
              " {'_id': 5, 'name': 'Asya', 'reportsTo': 'Ron'},"
              " {'_id': 6, 'name': 'Dan', 'reportsTo': 'Andrew'}]");
  expect(
      {{"[{'$graphLookup': {'from': 'c', 'startWith': '$reportsTo', 'connectFromField': "
        "'reportsTo', 'connectToField': 'name', 'as': 'reportingHierarchy'}},"
        " {'$project': {'h': '$reportingHierarchy.name'}}]",
        "[{'_id': 1, 'h': []}, {'_id': 2, 'h': ['Dev']}, {'_id': 3, 'h': ['Eliot', 'Dev']},"
        " {'_id': 4, 'h': ['Eliot', 'Dev']}, {'_id': 5, 'h': ['Ron', 'Eliot', 'Dev']},"
        " {'_id': 6, 'h': ['Andrew', 'Eliot', 'Dev']}]"}});
}

// Manual, "Across Multiple Collections".
TEST_F(GraphLookupTest, AirportsWithinTwoFlights) {
  storage.set("airports",
              "[{'_id': 0, 'airport': 'JFK', 'connects': ['BOS', 'ORD']},"
              " {'_id': 1, 'airport': 'BOS', 'connects': ['JFK', 'PWM']},"
              " {'_id': 2, 'airport': 'ORD', 'connects': ['JFK']},"
              " {'_id': 3, 'airport': 'PWM', 'connects': ['BOS', 'LHR']},"
              " {'_id': 4, 'airport': 'LHR', 'connects': ['PWM']}]");
  storage.set("c",
              "[{'_id': 1, 'name': 'Dev', 'nearestAirport': 'JFK'},"
              " {'_id': 3, 'name': 'Jeff', 'nearestAirport': 'BOS'}]");
  expect(
      {{"[{'$graphLookup': {'from': 'airports', 'startWith': '$nearestAirport', "
        "'connectFromField': 'connects', 'connectToField': 'airport', 'maxDepth': 2, "
        "'depthField': 'numConnections', 'as': 'destinations'}}, {'$unwind': '$destinations'},"
        " {'$project': {'_id': 0, 'n': '$name', 'a': '$destinations.airport', "
        "'d': '$destinations.numConnections'}}]",
        "[{'n': 'Dev', 'a': 'JFK', 'd': 0}, {'n': 'Dev', 'a': 'BOS', 'd': 1},"
        " {'n': 'Dev', 'a': 'ORD', 'd': 1}, {'n': 'Dev', 'a': 'PWM', 'd': 2},"
        " {'n': 'Jeff', 'a': 'BOS', 'd': 0}, {'n': 'Jeff', 'a': 'JFK', 'd': 1},"
        " {'n': 'Jeff', 'a': 'PWM', 'd': 1}, {'n': 'Jeff', 'a': 'ORD', 'd': 2},"
        " {'n': 'Jeff', 'a': 'LHR', 'd': 2}]"}});
}

// Manual, "With a Query Filter".
TEST_F(GraphLookupTest, FriendsWhoPlayGolf) {
  storage.set(
      "c",
      "[{'_id': 1, 'name': 'Tanya', 'friends': ['Shirley', 'Terry', 'Carole'], 'h': ['golf']},"
      " {'_id': 2, 'name': 'Carole', 'friends': ['Joseph', 'Tanya', 'Terry'], 'h': ['golf']},"
      " {'_id': 3, 'name': 'Terry', 'friends': ['Tanya', 'Carole', 'Angelo'], 'h': []},"
      " {'_id': 4, 'name': 'Joseph', 'friends': ['Angelo', 'Carole'], 'h': ['x', 'golf']},"
      " {'_id': 5, 'name': 'Angelo', 'friends': ['Terry', 'Shirley', 'Joseph'], 'h': "
      "['golf']},"
      " {'_id': 6, 'name': 'Shirley', 'friends': ['Angelo', 'Tanya', 'Carole'], 'h': []}]");
  expect(
      {{"[{'$match': {'name': 'Tanya'}}, {'$graphLookup': {'from': 'c', 'startWith': "
        "'$friends', 'connectFromField': 'friends', 'connectToField': 'name', 'as': 'golfers', "
        "'restrictSearchWithMatch': {'h': 'golf'}}}, {'$project': {'g': '$golfers.name'}}]",
        "[{'_id': 1, 'g': ['Carole', 'Tanya', 'Joseph', 'Angelo']}]"}});
}

TEST_F(GraphLookupTest, ShapesOfGraphs) {
  storage.set(
      "c",
      "[{'_id': 1, 'to': 2}, {'_id': 2, 'to': 3.0}, {'_id': 3, 'to': 1}, {'_id': 4, 'to': 4},"
      " {'_id': 5, 'to': [6, 7, 6, 99]}, {'_id': 6, 'to': 8}, {'_id': 7, 'to': 8}, {'_id': 8},"
      " {'_id': 9, 'p': [{'q': 1}, {'q': [6, 8]}]}, {'_id': 10, 'to': null}]");
  const std::string follow = "'connectFromField': 'to', 'connectToField': '_id'";
  // A cycle, a cycle of a single document, a document reached in two ways, arrays.
  expect_reached("{'_id': 1}", "'startWith': '$to', " + follow,
                 "[{'_id': 1, 'r': [{'_id': 2, 'd': 0}, {'_id': 3, 'd': 1}, {'_id': 1, 'd': 2}]}]");
  expect_reached("{'_id': 4}", "'startWith': '$to', " + follow,
                 "[{'_id': 4, 'r': [{'_id': 4, 'd': 0}]}]");
  expect_reached("{'_id': 5}", "'startWith': '$to', " + follow,
                 "[{'_id': 5, 'r': [{'_id': 6, 'd': 0}, {'_id': 7, 'd': 0}, {'_id': 8, 'd': 1}]}]");
  expect_reached("{'_id': 9}", "'startWith': '$p.q', " + follow,
                 "[{'_id': 9, 'r': [{'_id': 1, 'd': 0}, {'_id': 2, 'd': 1}, {'_id': 3, 'd': 2}]}]");
  expect_reached("{'_id': 9}", "'startWith': {'$add': [5, 1]}, " + follow,
                 "[{'_id': 9, 'r': [{'_id': 6, 'd': 0}, {'_id': 8, 'd': 1}]}]");
  // The depth limits the search.
  expect_reached("{'_id': 1}", "'maxDepth': 0, 'startWith': '$to', " + follow,
                 "[{'_id': 1, 'r': [{'_id': 2, 'd': 0}]}]");
  expect_reached("{'_id': 1}", "'maxDepth': 1.0, 'startWith': '$to', " + follow,
                 "[{'_id': 1, 'r': [{'_id': 2, 'd': 0}, {'_id': 3, 'd': 1}]}]");
  // A missing value leads nowhere. Null leads to documents without the field.
  expect_reached("{'_id': 8}", "'startWith': '$to', " + follow, "[{'_id': 8, 'r': []}]");
  expect_reached("{'_id': 10}",
                 "'startWith': '$to', 'connectFromField': 'x', 'connectToField': 'to'",
                 "[{'_id': 10, 'r': [{'_id': 8, 'd': 0}, {'_id': 9, 'd': 0}, {'_id': 10, 'd': "
                 "0}]}]");
  // Documents that do not match are not followed.
  expect_reached("{'_id': 1}",
                 "'restrictSearchWithMatch': {'_id': {'$ne': 3}}, 'startWith': '$to', " + follow,
                 "[{'_id': 1, 'r': [{'_id': 2, 'd': 0}]}]");
  // Backwards: to the documents that refer to this one.
  expect_reached("{'_id': 8}",
                 "'startWith': '$_id', 'connectFromField': '_id', 'connectToField': 'to'",
                 "[{'_id': 8, 'r': [{'_id': 6, 'd': 0}, {'_id': 7, 'd': 0}, {'_id': 5, 'd': 1}]}]");
}

TEST_F(GraphLookupTest, WhereTheResultsGo) {
  storage.set("c", "[{'_id': 1, 'a': 1, 'b': {'x': 1}}]");
  storage.set("f", "[{'_id': 1, 'to': 1, 'd': 'old'}]");
  const auto lookup = [](const std::string& options) {
    return "[{'$graphLookup': {'from': 'f', 'startWith': 1, 'connectFromField': 'to', "
           "'connectToField': '_id', " +
           options + "}}]";
  };
  expect({
      {lookup("'as': 'a'").c_str(),
       "[{'_id': 1, 'a': [{'_id': 1, 'to': 1, 'd': 'old'}], 'b': {'x': 1}}]"},
      {lookup("'as': 'b.y', 'depthField': 'd'").c_str(),
       "[{'_id': 1, 'a': 1, 'b': {'x': 1, 'y': [{'_id': 1, 'to': 1, 'd': 0}]}}]"},
      {lookup("'as': 'b', 'depthField': 'p.q'").c_str(),
       "[{'_id': 1, 'a': 1, 'b': [{'_id': 1, 'to': 1, 'd': 'old', 'p': {'q': 0}}]}]"},
  });
}

TEST_F(GraphLookupTest, InFacetsAndOtherPipelines) {
  storage.set("c", "[{'_id': 1, 'to': 2}, {'_id': 2, 'to': 3}, {'_id': 3}]");
  const std::string stage =
      "{'$graphLookup': {'from': 'c', 'startWith': '$to', 'connectFromField': 'to', "
      "'connectToField': '_id', 'as': 'r'}}, {'$project': {'r': '$r._id'}}";
  expect({
      {("[{'$facet': {'f': [{'$match': {'_id': 1}}, " + stage + "]}}]").c_str(),
       "[{'f': [{'_id': 1, 'r': [2, 3]}]}]"},
      {("[{'$match': {'_id': 3}}, {'$lookup': {'from': 'c', 'as': 'l', 'pipeline': [{'$match': "
        "{'_id': 2}}, " +
        stage + "]}}]")
           .c_str(),
       "[{'_id': 3, 'l': [{'_id': 2, 'r': [3]}]}]"},
  });
}

// The search needs more values than one query requests, and then more memory than it may use.
TEST_F(GraphLookupTest, ManyDocuments) {
  std::string documents = "[{'_id': -1, 'to': [";
  constexpr int kDocuments = 5000;
  for (int i = 0; i < kDocuments; ++i) documents += (i == 0 ? "" : ", ") + std::to_string(i);
  documents += "]}";
  for (int i = 0; i < kDocuments; ++i) {
    documents += ", {'_id': " + std::to_string(i) + ", 'to': " + std::to_string(i + 1) + "}";
  }
  storage.set("c", documents + "]");
  const char* const stages =
      "[{'$match': {'_id': -1}}, {'$graphLookup': {'from': 'c', 'startWith': '$to', "
      "'connectFromField': 'to', 'connectToField': '_id', 'as': 'r'}}, {'$project': {'n': "
      "{'$size': "
      "'$r'}}}]";
  expect({{stages, "[{'_id': -1, 'n': 5000}]"}});
  run.memory_bytes_max = 100'000;
  expect_refused(run, {{stages, 40099, "$graphLookup reached maximum memory consumption"}});
}

TEST_F(GraphLookupTest, Refused) {
  storage.set("c", "[{'_id': 1}]");
  storage.set("no_ids", "[{'x': 1}]");
  const auto with = [](const std::string& options) {
    return "[{'$graphLookup': {'from': 'c', 'startWith': 1, 'connectFromField': 'a', "
           "'connectToField': 'b', 'as': 'r', " +
           options + "}}]";
  };
  expect_refused(
      run,
      {{"[{'$graphLookup': 5}]", 9,
        "the $graphLookup stage specification must be an object, but found int"},
       {"[{'$graphLookup': {'startWith': 1}}]", 9, "missing 'from' option to $graphLookup"},
       {"[{'$graphLookup': {'from': 5}}]", 9, "'from' field must be a string, but found int"},
       {"[{'$graphLookup': {'from': 'c', 'startWith': 1, 'connectFromField': 'a', 'as': 'r'}}]",
        40105, "requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField'"},
       {with("'maxDepth': 'x'").c_str(), 40100, "maxDepth must be numeric, found type: string"},
       {with("'maxDepth': -1").c_str(), 40101, "requires a nonnegative argument, found: -1"},
       {with("'maxDepth': 1.5").c_str(), 40102, "could not be represented as a long long: 1.5"},
       {with("'depthField': 5").c_str(), 40103, "expected string as argument for depthField"},
       {with("'depthField': '$d'").c_str(), 16410, "'$'"},
       {with("'other': 5").c_str(), 40104, "Unknown argument to $graphLookup: other"},
       {with("'restrictSearchWithMatch': 5").c_str(), 40185, "must be an object, found int"},
       {with("'restrictSearchWithMatch': {'$no': 1}").c_str(), 2,
        "Failed to parse 'restrictSearchWithMatch' option to $graphLookup"},
       {"[{'$graphLookup': {'from': 'no_ids', 'startWith': 1, 'connectFromField': 'a', "
        "'connectToField': 'x', 'as': 'r'}}]",
        40271, "Documents in the 'no_ids' namespace must contain an _id"}});
}

}  // namespace
}  // namespace gridmount::query
