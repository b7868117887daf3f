// Goal: projections return the fields that MongoDB returns.
// Method: a table.

#include "engine/query/projection/projection.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/bson/builder.h"
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
      {"{'b.c': 1, 'b': {'d': 1}}", "{'_id': 1, 'b': {'c': 3, 'd': 4}}"},
      {"{'b': {'c': 0}, 'e': {'f': 0, 'g': 0}}",
       "{'_id': 1, 'a': 2, 'b': {'d': 4}, 'e': [{}, 7, [{}]]}"},
  };
  for (const auto& [specification, expected] : kCases) {
    Result<Projection> projection = Projection::parse(parse_json(specification));
    ASSERT_TRUE(projection) << specification << ": " << projection.error().message();
    EXPECT_EQ(show(*projection->apply(parse_json(kDocument))), show(parse_json(expected)))
        << specification;
  }
}

TEST(ProjectionTest, PartOfTheId) {
  const bson::Document document = parse_json("{'_id': {'x': 1, 'y': 2}, 'a': 3}");
  EXPECT_EQ(show(*Projection::parse(parse_json("{'_id.x': 1}"))->apply(document)),
            show(parse_json("{'_id': {'x': 1}}")));
  EXPECT_EQ(show(*Projection::parse(parse_json("{'_id.x': 0}"))->apply(document)),
            show(parse_json("{'_id': {'y': 2}, 'a': 3}")));
}

struct Cut {
  const char* projection;
  const char* result;
};

void expect_cuts(const char* document, const char* filter, const std::vector<Cut>& cuts) {
  const bson::Document before = parse_json(document);
  const bson::Document found_by = parse_json(filter);
  for (const Cut& cut : cuts) {
    Result<Projection> projection =
        Projection::parse(parse_json(cut.projection), {found_by, {}, {}});
    ASSERT_TRUE(projection) << cut.projection << ": " << projection.error().message();
    const Result<bson::View> after = projection->apply(before);
    ASSERT_TRUE(after) << cut.projection << ": " << after.error().message();
    EXPECT_EQ(show(*after), show(parse_json(cut.result))) << cut.projection;
    EXPECT_TRUE(bson::validate(after->bytes()));
  }
}

TEST(ProjectionTest, Slice) {
  expect_cuts("{'_id': 1, 'a': [1, 2, 3, 4], 'b': 5}", "{}",
              {
                  // $slice alone is an exclusion of nothing.
                  {"{'a': {'$slice': 2}}", "{'_id': 1, 'a': [1, 2], 'b': 5}"},
                  {"{'a': {'$slice': -1}}", "{'_id': 1, 'a': [4], 'b': 5}"},
                  {"{'a': {'$slice': 0}}", "{'_id': 1, 'a': [], 'b': 5}"},
                  {"{'a': {'$slice': 9}}", "{'_id': 1, 'a': [1, 2, 3, 4], 'b': 5}"},
                  {"{'a': {'$slice': -9}}", "{'_id': 1, 'a': [1, 2, 3, 4], 'b': 5}"},
                  {"{'a': {'$slice': 1.9}}", "{'_id': 1, 'a': [1], 'b': 5}"},
                  {"{'a': {'$slice': [1, 2]}}", "{'_id': 1, 'a': [2, 3], 'b': 5}"},
                  {"{'a': {'$slice': [-2, 1]}}", "{'_id': 1, 'a': [3], 'b': 5}"},
                  {"{'a': {'$slice': [-9, 1]}}", "{'_id': 1, 'a': [1], 'b': 5}"},
                  {"{'a': {'$slice': [9, 1]}}", "{'_id': 1, 'a': [], 'b': 5}"},
                  {"{'a': {'$slice': [3, 2147483648]}}", "{'_id': 1, 'a': [4], 'b': 5}"},
                  {"{'b': {'$slice': 1}}", "{'_id': 1, 'a': [1, 2, 3, 4], 'b': 5}"},
                  {"{'_id': 0, 'a': {'$slice': 1}}", "{'a': [1], 'b': 5}"},
                  {"{'_id': 1, 'a': {'$slice': 1}}", "{'_id': 1, 'a': [1]}"},
                  {"{'a': {'$slice': 1}, 'x': 1}", "{'_id': 1, 'a': [1]}"},
                  {"{'b': 1, 'a': {'$slice': 1}}", "{'_id': 1, 'a': [1], 'b': 5}"},
                  {"{'b': 0, 'a': {'$slice': 1}}", "{'_id': 1, 'a': [1]}"},
              });
  expect_cuts(
      "{'_id': 1, 'a': [{'b': [1, 2], 'c': 1}, 7, [{'b': [1, 2]}]]}", "{}",
      {
          // $slice does not enter arrays in arrays, but an inclusion does.
          {"{'a.b': {'$slice': 1}}", "{'_id': 1, 'a': [{'b': [1], 'c': 1}, 7, [{'b': [1, 2]}]]}"},
          {"{'x': 1, 'a': {'b': {'$slice': 1}}}", "{'_id': 1, 'a': [{'b': [1]}, [{'b': [1, 2]}]]}"},
          {"{'a.b': {'$slice': 1}, 'a.c': 0}", "{'_id': 1, 'a': [{'b': [1]}, 7, [{'b': [1, 2]}]]}"},
      });
}

TEST(ProjectionTest, ElementMatch) {
  expect_cuts(
      "{'_id': 1, 'a': [{'b': 1}, {'b': 2, 'c': 3}, {'b': 2}], 'd': [1, 5, 9], 'e': 1}", "{}",
      {
          {"{'a': {'$elemMatch': {'b': 2}}}", "{'_id': 1, 'a': [{'b': 2, 'c': 3}]}"},
          {"{'a': {'$elemMatch': {'b': 7}}}", "{'_id': 1}"},
          {"{'_id': 0, 'd': {'$elemMatch': {'$gt': 1}}}", "{'d': [5]}"},
          {"{'e': {'$elemMatch': {'$gt': 0}}}", "{'_id': 1}"},
          {"{'x': {'$elemMatch': {'$gt': 0}}}", "{'_id': 1}"},
          // Computed fields follow the existing ones, in the order in which they are named.
          {"{'d': {'$elemMatch': {'$gt': 1}}, 'a': {'$elemMatch': {'b': 1}}, 'e': 1}",
           "{'_id': 1, 'e': 1, 'd': [5], 'a': [{'b': 1}]}"},
          {"{'a': {'$elemMatch': {'b': 1}}, 'd': 0}", "{'_id': 1, 'a': [{'b': 1}], 'e': 1}"},
          {"{'a': {'$elemMatch': {'b': 7}}, 'd': {'$slice': 1}}", "{'_id': 1, 'd': [1], 'e': 1}"},
      });
}

TEST(ProjectionTest, Positional) {
  const char kArrays[] =
      "{'_id': 1, 'a': [{'b': 1}, {'b': 2, 'c': 3}], 'd': [5, 6], 'e': {'f': [7, 8]}, 'g': 9}";
  expect_cuts(
      kArrays, "{'a.b': 2}",
      {
          {"{'a.$': 1}", "{'_id': 1, 'a': [{'b': 2, 'c': 3}]}"},
          {"{'a.b.$': 1}", "{'_id': 1, 'a': [{'b': 2}]}"},
          {"{'a': {'b.$': 1}, 'a.c': 1}", "{'_id': 1, 'a': [{'b': 2, 'c': 3}]}"},
          {"{'_id': 0, 'a.$': 1, 'd': {'$slice': 1}}", "{'a': [{'b': 2, 'c': 3}], 'd': [5]}"},
          // The array is another one, and the position is the same.
          {"{'d.$': 1, 'a': 1}", "{'_id': 1, 'a': [{'b': 1}, {'b': 2, 'c': 3}], 'd': [6]}"},
          {"{'e.f.$': 1}", "{'_id': 1, 'e': {'f': [8]}}"},
          {"{'g.$': 1}", "{'_id': 1, 'g': 9}"},
          {"{'x.$': 1}", "{'_id': 1}"},
      });
  expect_cuts(kArrays, "{'d': {'$elemMatch': {'$gt': 4}}}",
              {{"{'d.$': true}", "{'_id': 1, 'd': [5]}"}});
  expect_cuts(kArrays, "{'d': {'$exists': true}}", {{"{'d.$': 1}", "{'_id': 1, 'd': [5]}"}});
  // The last condition counts.
  expect_cuts(kArrays, "{'e.f': 7, 'd': 6}", {{"{'d.$': 1}", "{'_id': 1, 'd': [6]}"}});
  expect_cuts(kArrays, "{'d': 6, 'e.f': 7}", {{"{'d.$': 1}", "{'_id': 1, 'd': [5]}"}});
  const auto refused = [&](const char* filter, const char* projection) {
    const bson::Document found_by = parse_json(filter);
    Result<Projection> parsed = Projection::parse(parse_json(projection), {found_by, {}, {}});
    if (!parsed) return static_cast<int>(parsed.error().code());
    EXPECT_TRUE(parsed->needs_match());
    const Result<bson::View> after = parsed->apply(parse_json(kArrays));
    return after ? 0 : static_cast<int>(after.error().code());
  };
  EXPECT_EQ(refused("{'_id': 1}", "{'a.$': 1}"), 51246);
  EXPECT_EQ(refused("{'g': 9}", "{'g.$': 1}"), 0);
  EXPECT_EQ(refused("{'$expr': {'$eq': ['$g', 9]}}", "{'a.$': 1}"), 224);
  EXPECT_EQ(refused("{'a.b': 2, '$and': [{'$jsonSchema': {}}]}", "{'a.$': 1}"), 224);
  const bson::Document longer = parse_json("{'a': [0, 1, 2], 'b': [5]}");
  const bson::Document found_by = parse_json("{'a': 2}");
  EXPECT_EQ(static_cast<int>(Projection::parse(parse_json("{'b.$': 1}"), {found_by, {}, {}})
                                 ->apply(longer)
                                 .error()
                                 .code()),
            51247);
}

TEST(ProjectionTest, ManyFields) {
  bson::Builder document;
  bson::Builder specification;
  for (int32_t i = 0; i < 20'000; ++i) {
    document.append("f" + std::to_string(i), i);
    if (i % 2 == 0) specification.append("f" + std::to_string(19'999 - i), int32_t{1});
  }
  Result<Projection> projection = Projection::parse(std::move(specification).finish());
  const Result<bson::View> after = projection->apply(std::move(document).finish());
  int32_t expected = 1;
  for (const bson::Element element : *after) {
    ASSERT_EQ(element.key, "f" + std::to_string(expected));
    expected += 2;
  }
  EXPECT_EQ(expected, 20'001);
}

TEST(ProjectionTest, Messages) {
  const std::pair<const char*, const char*> kMessages[] = {
      {"{'a': 1, 'b': 0}", "Cannot do exclusion on field b in inclusion projection"},
      {"{'a': 0, 'b': 1}", "Cannot do inclusion on field b in exclusion projection"},
      {"{'a': 1, 'a.b.c': 1}", "Path collision at a.b.c remaining portion b.c"},
      {"{'a.b': 1, 'a': 1}", "Path collision at a"},
      {"{'a.b': 1, 'a.b.c': 1}", "Path collision at a.b.c remaining portion b.c"},
      {"{'a': {'b': 1, 'b.c': 1}}", "Path collision at b.c remaining portion c"},
      {"{'a': {'$slice': [0, 0]}, 'a.b': 1}",
       "Invalid $slice syntax. The given syntax { $slice: [ 0, 0 ] } did not match the find() "
       "syntax because :: Location31259: $slice limit must be positive, got 0 :: The given syntax "
       "did not match the expression $slice syntax. :: caused by :: "},
  };
  for (const auto& [specification, message] : kMessages) {
    Result<Projection> projection = Projection::parse(parse_json(specification));
    ASSERT_FALSE(projection) << specification;
    EXPECT_EQ(projection.error().message().substr(0, std::strlen(message)), message);
  }
}

TEST(ProjectionTest, Refused) {
  const std::pair<const char*, int> kRefused[] = {
      {"{'a': 1, 'b': 0}", 31254},
      {"{'a': 0, 'b': 1}", 31253},
      {"{'a': {'$slice': 1}, 'a.b': 1}", 31249},
      {"{'a': 1, 'a.b': 1}", 31249},
      {"{'a.b': 1, 'a': 1}", 31250},
      {"{'a': 1, 'a': {'b': 1}}", 31250},
      {"{'a.b': 1, 'a.b': 1}", 31250},
      {"{'_id': 1, '_id.x': 1}", 31249},
      {"{'_id.x': 1, '_id': 1}", 31250},
      {"{'a': {}}", 51270},
      {"{'a': {'$elemMatch': 1}}", 31274},
      {"{'a.b': {'$elemMatch': {'x': 1}}}", 31275},
      {"{'a': {'b': {'$elemMatch': {'x': 1}}}}", 31275},
      {"{'a': {'$elemMatch': {'x': {'$foo': 1}}}}", 2},
      {"{'a.$': 1}", 51050},
      {"{'a.$': 0}", 31395},
      {"{'a.$': {'b': 1}}", 31271},
      {"{'a.$': 'x'}", 31308},
      {"{'a.$.b': 1}", 31394},
      {"{'a..b': 1}", 15998},
      {"{'a.': 1}", 40353},
      {"{'': 1}", 40352},
      {"{'$a': 1}", 16410},
      {"{'a.$b': 1}", 16410},
      {"{'a': {'$b': 1, 'c': 1}}", 16410},
  };
  for (const auto& [specification, code] : kRefused) {
    Result<Projection> projection = Projection::parse(parse_json(specification));
    ASSERT_FALSE(projection) << specification;
    EXPECT_EQ(static_cast<int>(projection.error().code()), code) << specification;
  }
}

TEST(ProjectionTest, RefusedWithAFilter) {
  const std::pair<const char*, int> kRefused[] = {
      {"{'a.$': 1, 'b.$': 1}", 31276},
      {"{'b': {'$elemMatch': {'x': 1}}, 'a.$': 1}", 31256},
      {"{'a.$': 1, 'b': {'$elemMatch': {'x': 1}}}", 31255},
      {"{'.$': 1}", 5392900},
      {"{'$.$': 1}", 16410},
      {"{'b': 0, 'a.$': 1}", 31253},
      {"{'a.$': 1, 'a': 1}", 31250},
      {"{'a.$': 1, 'a.b': 1}", 31249},
  };
  const bson::Document filter = parse_json("{'a': 1}");
  for (const auto& [specification, code] : kRefused) {
    Result<Projection> projection = Projection::parse(parse_json(specification), {filter, {}, {}});
    ASSERT_FALSE(projection) << specification;
    EXPECT_EQ(static_cast<int>(projection.error().code()), code) << specification;
  }
}

}  // namespace
}  // namespace gridmount::query
