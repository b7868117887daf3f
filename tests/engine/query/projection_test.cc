// Goal: projections give the fields MongoDB gives. Method: a table.

#include "engine/query/projection.h"

#include <gtest/gtest.h>

#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

constexpr char kDocument[] =
    "{'_id': 1, 'a': 2, 'b': {'c': 3, 'd': 4}, 'e': [{'f': 5, 'g': 6}, 7, [{'f': 8}]]}";

TEST(ProjectionTest, Results) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{}", kDocument},
      {"{'a': 1}", "{'_id': 1, 'a': 2}"},
      {"{'_id': 0, 'a': true}", "{'a': 2}"},
      {"{'_id': 1}", "{'_id': 1}"},
      {"{'_id': 0}", "{'a': 2, 'b': {'c': 3, 'd': 4}, 'e': [{'f': 5, 'g': 6}, 7, [{'f': 8}]]}"},
      {"{'a': 0, 'e': 0}", "{'_id': 1, 'b': {'c': 3, 'd': 4}}"},
      {"{'b.c': 1}", "{'_id': 1, 'b': {'c': 3}}"},
      {"{'b': {'c': 1}}", "{'_id': 1, 'b': {'c': 3}}"},
      {"{'b.c': 0, 'e': 0}", "{'_id': 1, 'a': 2, 'b': {'d': 4}}"},
      {"{'e.f': 1}", "{'_id': 1, 'e': [{'f': 5}, [{'f': 8}]]}"},
      {"{'e.f': 0, 'b': 0}", "{'_id': 1, 'a': 2, 'e': [{'g': 6}, 7, [{}]]}"},
      {"{'a.x': 1}", "{'_id': 1}"},
      {"{'x': 1}", "{'_id': 1}"},
      {"{'_id': 1, 'b': 0, 'e': 0}", "{'_id': 1, 'a': 2}"},
      {"{'_id': 0, 'b': 0, 'e': 0}", "{'a': 2}"},
      {"{'_id.x': 1, 'a': 1}", "{'a': 2}"},
      {"{'_id.x': 0, 'b': 0, 'e': 0}", "{'_id': 1, 'a': 2}"},
      {"{'b': {'d': 1}, 'b.c': 1}", "{'_id': 1, 'b': {'c': 3, 'd': 4}}"},
  };
  for (const auto& [specification, expected] : kCases) {
    const Result<Projection> projection = Projection::parse(parse_json(specification));
    ASSERT_TRUE(projection) << specification << ": " << projection.error().message();
    EXPECT_EQ(show(projection->apply(parse_json(kDocument))), show(parse_json(expected)))
        << specification;
  }
}

TEST(ProjectionTest, PartOfTheId) {
  const bson::Document document = parse_json("{'_id': {'x': 1, 'y': 2}, 'a': 3}");
  EXPECT_EQ(show(Projection::parse(parse_json("{'_id.x': 1}"))->apply(document)),
            show(parse_json("{'_id': {'x': 1}}")));
  EXPECT_EQ(show(Projection::parse(parse_json("{'_id.x': 0}"))->apply(document)),
            show(parse_json("{'_id': {'y': 2}, 'a': 3}")));
}

TEST(ProjectionTest, Messages) {
  const std::pair<const char*, const char*> kMessages[] = {
      {"{'a': 1, 'b': 0}", "Cannot do exclusion on field b in inclusion projection"},
      {"{'a': 0, 'b': 1}", "Cannot do inclusion on field b in exclusion projection"},
      {"{'a': 1, 'a.b.c': 1}", "Path collision at a.b.c remaining portion b.c"},
      {"{'a.b': 1, 'a': 1}", "Path collision at a"},
  };
  for (const auto& [specification, message] : kMessages) {
    const Result<Projection> projection = Projection::parse(parse_json(specification));
    ASSERT_FALSE(projection) << specification;
    EXPECT_EQ(projection.error().message(), message);
  }
}

TEST(ProjectionTest, Refused) {
  const std::pair<const char*, int> kRefused[] = {
      {"{'a': 1, 'b': 0}", 31254},
      {"{'a': 0, 'b': 1}", 31253},
      {"{'a': 'x'}", 2},
      {"{'a': {'$slice': 1}}", 2},
      {"{'a.$': 1}", 2},
      {"{'a': 1, 'a.b': 1}", 31249},
      {"{'a.b': 1, 'a': 1}", 31250},
      {"{'_id': 1, '_id.x': 1}", 31249},
      {"{'_id.x': 1, '_id': 1}", 31250},
      {"{'a': {}}", 51270},
      {"{'a': {'$elemMatch': {'x': 1}}}", 2},
      {"{'a..b': 1}", 2},
  };
  for (const auto& [specification, code] : kRefused) {
    const Result<Projection> projection = Projection::parse(parse_json(specification));
    ASSERT_FALSE(projection) << specification;
    EXPECT_EQ(static_cast<int>(projection.error().code()), code) << specification;
  }
}

}  // namespace
}  // namespace gridmount::query
