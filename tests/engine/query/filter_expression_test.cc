// Goal: $expr in filters: its truth value, variables, time, errors and memory limit.
// Method: tables, with the contexts of a command and of a pipeline.

#include <gtest/gtest.h>

#include "engine/bson/builder.h"
#include "engine/query/expression/expression.h"
#include "tests/engine/query/filter_cases.h"

namespace gridmount::query {
namespace {

TEST(FilterExpressionTest, Truth) {
  check_filters({
      {"{'$expr': {'$gt': ['$a', '$b']}}",
       {"{'a': 2, 'b': 1}", "{'a': 1}"},
       {"{'a': 1, 'b': 1}", "{}"}},
      {"{'$expr': '$a'}",
       {"{'a': 1}", "{'a': 'x'}", "{'a': []}"},
       {"{}", "{'a': 0}", "{'a': null}", "{'a': false}", "{'a': {'$undefined': true}}"}},
      {"{'$expr': true}", {"{}"}, {}},
      {"{'$expr': {'$literal': 0}}", {}, {"{}"}},
      {"{'$expr': {'$eq': ['$$ROOT', {'a': 1}]}}", {"{'a': 1}"}, {"{'a': 2}"}},
      {"{'$expr': {'$eq': ['$a', 1]}, 'b': 1}",
       {"{'a': 1, 'b': 1}"},
       {"{'a': 1}", "{'a': [1], 'b': 1}"}},
      {"{'$or': [{'$expr': {'$eq': ['$a', 1]}}, {'b': 1}]}", {"{'a': 1}", "{'b': 1}"}, {"{}"}},
      {"{'$nor': [{'$expr': {'$eq': ['$a', 1]}}]}", {"{}"}, {"{'a': 1}"}},
      {"{'$expr': {'$let': {'vars': {'x': '$a'}, 'in': {'$gt': ['$$x', 5]}}}}",
       {"{'a': 6}"},
       {"{'a': 5}"}},
      {"{'$expr': {'$lt': ['$a', '$$NOW']}}",
       {"{'a': {'$date': {'$numberLong': '0'}}}"},
       {"{'a': {'$date': {'$numberLong': '253402300799000'}}}"}},
  });
}

TEST(FilterExpressionTest, Refused) {
  check_refused({
      {"{'$expr': {'$foo': 1}}", 168, "Unrecognized expression '$foo'..."},
      {"{'$expr': '$$x'}", 17276, "Use of undefined variable: x..."},
      {"{'$expr': {'$eq': [1]}}", 16020, "Expression $eq takes exactly 2 arguments..."},
      {"{'a': {'$expr': true}}", 2, "unknown operator: $expr"},
  });
}

TEST(FilterExpressionTest, VariablesAndTimeOfACommand) {
  VariableScope scope;
  FilterOptions options;
  options.scope = &scope;
  ASSERT_EQ(scope.declare("least").value(), 0U);
  ASSERT_EQ(scope.declare("none").value(), 1U);
  options.variables = {bson::Value(5), std::nullopt};
  options.now = bson::Date{1000};
  const auto matches = [&](const char* filter, const char* document) {
    return Filter::parse(parse_json(filter), options).value().matches(parse_json(document));
  };
  EXPECT_TRUE(matches("{'$expr': {'$gte': ['$a', '$$least']}}", "{'a': 5}"));
  EXPECT_FALSE(matches("{'$expr': {'$gte': ['$a', '$$least']}}", "{'a': 4}"));
  EXPECT_TRUE(matches("{'$expr': {'$eq': [{'$type': '$$none'}, 'missing']}}", "{}"));
  EXPECT_TRUE(matches("{'$expr': {'$eq': ['$$NOW', {'$toDate': {'$numberLong': '1000'}}]}}", "{}"));
  // Two expressions, each with its own variables.
  EXPECT_TRUE(
      matches("{'$and': [{'$expr': {'$let': {'vars': {'x': 1}, 'in': {'$eq': ['$$x', '$a']}}}},"
              "{'$expr': {'$let': {'vars': {'x': '$$least'}, 'in': {'$eq': ['$$x', '$b']}}}}]}",
              "{'a': 1, 'b': 5}"));
}

TEST(FilterExpressionTest, ContextOfACaller_IsUsedAndPutBack) {
  VariableScope scope;
  FilterOptions options;
  options.scope = &scope;
  ASSERT_TRUE(scope.declare("x"));
  const Filter filter =
      Filter::parse(parse_json("{'$expr': {'$eq': [{'$concat': ['$a', '$$x']}, 'ab']}}"), options)
          .value();
  Arena arena(1 << 16);
  const bson::Document root = parse_json("{'root': 1}");
  EvaluationContext context{root, {}, arena, bson::Date{0}};
  const bson::Value variable("b");
  context.variables.emplace_back(variable);
  const bson::Document document = parse_json("{'a': 'a'}");
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(filter.evaluate(document, &context).value()) << i;  // needs no more memory
  }
  EXPECT_EQ(context.root.data(), root.view().data());
  EXPECT_EQ(arena.bytes_left(), uint64_t{1} << 16);
}

TEST(FilterExpressionTest, Errors) {
  const bson::Document document = parse_json("{'a': 0, 'b': 1}");
  const auto code = [&](const char* filter) {
    const Result<bool> matches = parse_filter_json(filter).evaluate(document);
    return matches ? 0 : static_cast<int>(matches.error().code());
  };
  EXPECT_EQ(code("{'$expr': {'$divide': [1, '$a']}}"), 2);
  EXPECT_EQ(code("{'$nor': [{'$expr': {'$divide': [1, '$a']}}]}"), 2);
  EXPECT_EQ(code("{'$expr': {'$range': [0, {'$multiply': ['$b', 2000000000]}]}}"), 146);
  EXPECT_EQ(code("{'b': 2, '$expr': {'$divide': [1, '$a']}}"), 0);
  EXPECT_FALSE(parse_filter_json("{'$expr': {'$divide': [1, '$a']}}").matches(document));
  EXPECT_FALSE(
      parse_filter_json("{'$nor': [{'$expr': {'$divide': [1, '$a']}}]}").matches(document));
}

}  // namespace
}  // namespace gridmount::query
