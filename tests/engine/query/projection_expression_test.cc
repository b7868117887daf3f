// Goal: expressions in projections of find() compute what MongoDB computes, and put it in the same
// place.
// Method: tables.

#include <gtest/gtest.h>

#include "engine/query/projection/projection.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

constexpr char kDocument[] =
    "{'_id': 1, 'a': 2, 'b': {'c': 3, 'd': 4}, 'e': [{'f': 5}, 7, [{'f': 8}]], 's': 'Text'}";

Result<Projection> parse_projection(const char* specification, const char* variables = "{}") {
  const bson::Document values = parse_json(variables);
  return Projection::parse(parse_json(specification), {std::nullopt, values, {1000}});
}

TEST(ProjectionExpressionTest, Results) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{'x': {'$add': ['$a', 1]}}", "{'_id': 1, 'x': 3}"},
      {"{'x': '$b.c'}", "{'_id': 1, 'x': 3}"},
      {"{'_id': 0, 'x': '$b.c'}", "{'x': 3}"},
      {"{'_id': '$a'}", "{'_id': 2}"},
      {"{'x': 'literal'}", "{'_id': 1, 'x': 'literal'}"},
      {"{'x': {'$literal': 1}}", "{'_id': 1, 'x': 1}"},
      {"{'x': ['$a', '$no', 1]}", "{'_id': 1, 'x': [2, null, 1]}"},
      {"{'x': null}", "{'_id': 1, 'x': null}"},
      // A missing value is left out.
      {"{'x': '$no'}", "{'_id': 1}"},
      {"{'a': '$$REMOVE', 's': 1}", "{'_id': 1, 's': 'Text'}"},
      // Included fields keep their positions, and computed fields follow.
      {"{'a': {'$add': ['$a', 1]}, 's': 1}", "{'_id': 1, 's': 'Text', 'a': 3}"},
      {"{'a': {'$add': ['$a', 1]}, 's': {'$toLower': '$s'}}", "{'_id': 1, 'a': 3, 's': 'text'}"},
      {"{'b': {'c': 1, 'x': '$a'}}", "{'_id': 1, 'b': {'c': 3, 'x': 2}}"},
      {"{'b.x': '$a', 'b.c': 1}", "{'_id': 1, 'b': {'c': 3, 'x': 2}}"},
      {"{'n.o.p': '$a'}", "{'_id': 1, 'n': {'o': {'p': 2}}}"},
      {"{'a.x': '$s'}", "{'_id': 1, 'a': {'x': 'Text'}}"},
      // An array stands for its elements.
      {"{'e.g': '$a'}", "{'_id': 1, 'e': [{'g': 2}, {'g': 2}, [{'g': 2}]]}"},
      {"{'x': {'$size': '$e'}}", "{'_id': 1, 'x': 3}"},
      {"{'x': '$e.f'}", "{'_id': 1, 'x': [5]}"},
      {"{'x': '$$NOW'}", "{'_id': 1, 'x': {'$date': {'$numberLong': '1000'}}}"},
      {"{'x': '$$ROOT.b.d', 'y': '$$CURRENT.a'}", "{'_id': 1, 'x': 4, 'y': 2}"},
      {"{'x': {'$map': {'input': [1, 2], 'as': 'i', 'in': {'$add': ['$$i', '$a']}}}}",
       "{'_id': 1, 'x': [3, 4]}"},
      // $slice of find() and of expressions.
      {"{'a': 1, 'e': {'$slice': 1}}", "{'_id': 1, 'a': 2, 'e': [{'f': 5}]}"},
      {"{'e': {'$slice': ['$e', 1]}}", "{'_id': 1, 'e': [{'f': 5}]}"},
  };
  for (const auto& [specification, expected] : kCases) {
    Result<Projection> projection = parse_projection(specification);
    ASSERT_TRUE(projection) << specification << ": " << projection.error().message();
    EXPECT_FALSE(projection->needs_match());
    for (int i = 0; i < 2; ++i) {
      const Result<bson::View> result = projection->apply(parse_json(kDocument));
      ASSERT_TRUE(result) << specification << ": " << result.error().message();
      EXPECT_EQ(show(*result), show(parse_json(expected))) << specification;
    }
  }
}

TEST(ProjectionExpressionTest, Variables_HaveTheirValuesByName) {
  Result<Projection> projection = parse_projection(
      "{'x': '$$v', 'y': {'$let': {'vars': {'v': 5, 'u': '$$w.n'}, 'in': ['$$v', '$$u']}}, "
      "'z': '$$v'}",
      "{'v': 1, 'w': {'n': 2}}");
  ASSERT_TRUE(projection) << projection.error().message();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(show(*projection->apply(parse_json(kDocument))),
              show(parse_json("{'_id': 1, 'x': 1, 'y': [5, 2], 'z': 1}")));
  }
}

TEST(ProjectionExpressionTest, Refused) {
  struct RefusedProjection {
    const char* specification;
    int code;
    const char* message;
  };
  const RefusedProjection kRefusals[] = {
      {"{'x': {'$no': 1}}", 31325, "Unknown expression $no"},
      {"{'x': {'$add': [{'$no': 1}]}}", 168, "Unrecognized expression '$no'"},
      {"{'x': '$$v'}", 17276, "Use of undefined variable: v"},
      {"{'x': {'$divide': [1]}}", 16020, "$divide"},
      {"{'a': 0, 'x': {'$add': [1]}}", 31252, "exclusion projection"},
      {"{'a': 0, 'x': '$a'}", 31310, "exclusion projection"},
      {"{'a': 0, 'x': 'text'}", 31310, "exclusion projection"},
      {"{'x': '$a', 'a': 0}", 31254, "Cannot do exclusion on field a in inclusion projection"},
      {"{'x': '$a', 'x.y': 1}", 31249, "Path collision at x.y"},
      {"{'x.y': '$a', 'x': 1}", 31250, "Path collision at x"},
      {"{'x.y': 0, 'x': 'text'}", 31250, "Path collision at x"},
      {"{'x': {}}", 51270, "empty object"},
      {"{'x': {'$add': [1], 'y': 1}}", 16410, "may not start with '$'"},
  };
  for (const RefusedProjection& refusal : kRefusals) {
    Result<Projection> projection = parse_projection(refusal.specification);
    ASSERT_FALSE(projection) << refusal.specification;
    EXPECT_EQ(static_cast<int>(projection.error().code()), refusal.code) << refusal.specification;
    EXPECT_NE(projection.error().message().find(refusal.message), std::string::npos)
        << refusal.specification << ": " << projection.error().message();
  }
  EXPECT_EQ(parse_projection("{'x': 1}", "{'V': 1}").error().code(), ErrorCode::kFailedToParse);
  const Result<bson::View> failed = parse_projection("{'x': {'$divide': ['$a', '$zero']}}")
                                        ->apply(parse_json("{'a': 1, 'zero': 0}"));
  EXPECT_EQ(failed.error().code(), ErrorCode::kBadValue);
}

}  // namespace
}  // namespace gridmount::query
