// Goal: find() and $project return the fields that MongoDB returns, in its order.
// Method: a table with the results of MongoDB 6.0, which are the same for find, findAndModify and
// $project.

#include <gtest/gtest.h>

#include "engine/query/projection/projection.h"
#include "tests/engine/query/pipeline_run.h"

namespace gridmount::query {
namespace {

constexpr char kOrderedDocument[] =
    "{'_id': 1, 'x': 5, 'y': 1, 'o': {'p': 1, 'q': {'r': 2, 's': 3}}, 'l': [{'p': 1, 'q': 2}, 7, "
    "[{'q': 3}]], 'e': [], 'zero': 0}";

TEST(ProjectionOrder, Servers) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{'y': 1, 'x': 1}", "{'_id': 1, 'x': 5, 'y': 1}"},
      {"{'x.c': '$y', 'y': 1}", "{'_id': 1, 'x': {'c': 1}, 'y': 1}"},
      {"{'y': 1, 'x.c': '$y', 'n': '$x'}", "{'_id': 1, 'x': {'c': 1}, 'y': 1, 'n': 5}"},
      {"{'n': '$x', 'y': 1, 'm': '$y', 'o.p': 1}",
       "{'_id': 1, 'y': 1, 'o': {'p': 1}, 'n': 5, 'm': 1}"},
      {"{'o': {'n': '$y', 'q.s': 1, 'q.n': '$x', 'p': 1}}",
       "{'_id': 1, 'o': {'p': 1, 'q': {'s': 3, 'n': 5}, 'n': 1}}"},
      {"{'o.q.s': '$y', 'o.q.r': 1, 'o.p': 1}", "{'_id': 1, 'o': {'p': 1, 'q': {'r': 2, 's': 1}}}"},
      {"{'x': '$y', 'o': 1}", "{'_id': 1, 'o': {'p': 1, 'q': {'r': 2, 's': 3}}, 'x': 1}"},
      {"{'_id': '$x', 'y': 1}", "{'y': 1, '_id': 5}"},
      {"{'y': 1, '_id': '$x', 'n': 1}", "{'y': 1, '_id': 5}"},
      {"{'n': '$y', '_id': 1}", "{'_id': 1, 'n': 1}"},
      {"{'_id': 0, 'n.m': '$y', 'n.o': 1, 'x': 1}", "{'x': 5, 'n': {'m': 1}}"},
      {"{'l.n': '$y', 'l.q': 1}",
       "{'_id': 1, 'l': [{'q': 2, 'n': 1}, {'n': 1}, [{'q': 3, 'n': 1}]]}"},
      {"{'l.p': '$y'}", "{'_id': 1, 'l': [{'p': 1}, {'p': 1}, [{'p': 1}]]}"},
      {"{'e.n': {'$divide': [1, '$zero']}, 'y': 1}", "{'_id': 1, 'y': 1, 'e': []}"},
      {"{'e.n': '$y', 'x': 1}", "{'_id': 1, 'x': 5, 'e': []}"},
      {"{'m.n.o': '$y', 'm.n.p': '$x', 'm.k': 1, 'y': 1}",
       "{'_id': 1, 'y': 1, 'm': {'n': {'o': 1, 'p': 5}}}"},
      {"{'x.a.b': 1, 'y': 1}", "{'_id': 1, 'y': 1}"},
      {"{'o': {'q': {'s': 1}}, '_id': 0}", "{'o': {'q': {'s': 3}}}"},
      {"{'o.q': 0, 'l.q': 0, 'x': 0, 'e': 0}",
       "{'_id': 1, 'y': 1, 'o': {'p': 1}, 'l': [{'p': 1}, 7, [{}]], 'zero': 0}"},
      {"{'x.c': 0, 'o.p': 0, 'l': 0}",
       "{'_id': 1, 'x': 5, 'y': 1, 'o': {'q': {'r': 2, 's': 3}}, 'e': [], 'zero': 0}"},
      {"{'n': '$none', 'm': '$y', 'x': 1}", "{'_id': 1, 'x': 5, 'm': 1}"},
      {"{'o.n': '$none', 'x': 1}", "{'_id': 1, 'x': 5, 'o': {}}"},
      {"{'x': ['$y', '$none'], 'y': 1}", "{'_id': 1, 'y': 1, 'x': [1, null]}"},
  };
  FakePipelineStorage storage;
  storage.set("c", "[" + std::string(kOrderedDocument) + "]");
  const PipelineRun run{storage};
  for (const auto& [specification, expected] : kCases) {
    Result<Projection> projection = Projection::parse(parse_json(specification));
    ASSERT_TRUE(projection) << specification << ": " << projection.error().message();
    const bson::Document document = parse_json(kOrderedDocument);
    const Result<bson::View> found = projection->apply(document);
    ASSERT_TRUE(found) << specification << ": " << found.error().message();
    EXPECT_EQ(show(*found), show(parse_json(expected))) << specification;
    EXPECT_EQ(run.shown("[{'$project': " + std::string(specification) + "}]"),
              show_expected("[" + std::string(expected) + "]"))
        << specification;
  }
}

TEST(ProjectionOrder, KeysThatStandTwice_AreCountedLikeOthers) {
  bson::Builder builder;
  builder.append("_id", 1).append("a", 1).append("b", 3).append("a", 2);
  const bson::Document document = std::move(builder).finish();
  const std::pair<const char*, const char*> kCases[] = {
      {"{'a': 1}", "{ '_id' : 1, 'a' : 1 }"},
      {"{'a': 1, 'b': 1}", "{ '_id' : 1, 'a' : 1, 'b' : 3 }"},
      {"{'a': 1, 'n': '$b'}", "{ '_id' : 1, 'a' : 1, 'n' : 3 }"},
      {"{'a': 0}", "{ '_id' : 1, 'b' : 3 }"},
      {"{'b': 0}", "{ '_id' : 1, 'a' : 1, 'a' : 2 }"},
  };
  for (const auto& [specification, expected] : kCases) {
    Result<Projection> projection = Projection::parse(parse_json(specification));
    EXPECT_EQ(show(*projection->apply(document)), expected) << specification;
  }
}

TEST(ProjectionOrder, Collisions_AreNamedByTheSubDocumentsPaths) {
  FakePipelineStorage storage;
  storage.set("c", "[{'_id': 1}]");
  expect_refused(
      PipelineRun{storage},
      {{"[{'$project': {'a': {'b': 1, 'b.c': 1}}}]", 31249,
        "Path collision at b.c remaining portion c"},
       {"[{'$project': {'a': {'b': 1, 'c': 0}}}]", 31254,
        "Cannot do exclusion on field c in inclusion projection"},
       {"[{'$project': {'a': {'b': 0, 'c': {'$foo': 1}}}}]", 31325, "Unknown expression $foo"},
       {"[{'$project': {'a.$.b': 1}}]", 31394, "As of 4.4"},
       {"[{'$project': {'a.$': 1}}]", 31324, "Cannot use positional projection"},
       {"[{'$project': {'$': 1}}]", 16410, "may not start with '$'"}});
}

}  // namespace
}  // namespace gridmount::query
