// Goal: filters, expressions, plans, sorts, updates and projections compare strings by the
// collation, wherever they compare values, but nowhere else.
// Method: the results are those of mongod 6.0.5 for the same commands.

#include <gtest/gtest.h>

#include "engine/query/collation/collator.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/planner.h"
#include "engine/query/projection/projection.h"
#include "engine/query/sort.h"
#include "engine/query/update/update.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

SharedCollator ignoring_case() {
  return *Collator::parse(parse_json("{'locale': 'en', 'strength': 2}"));
}

bool matches_collated(const char* filter, const char* document) {
  const Result<Filter> parsed = Filter::parse(parse_json(filter), {.collator = ignoring_case()});
  if (!parsed) throw std::runtime_error(parsed.error().message());
  return parsed->matches(parse_json(document));
}

TEST(CollatedFilterTest, Comparisons) {
  EXPECT_TRUE(matches_collated("{'a': 'A'}", "{'a': 'a'}"));
  EXPECT_TRUE(matches_collated("{'a': 'A'}", "{'a': ['b', 'a']}"));
  EXPECT_TRUE(matches_collated("{'a': {'b': 'A'}}", "{'a': {'b': 'a'}}"));
  EXPECT_FALSE(matches_collated("{'a': {'$ne': 'A'}}", "{'a': 'a'}"));
  EXPECT_TRUE(matches_collated("{'a': {'$in': ['x', 'A']}}", "{'a': 'a'}"));
  EXPECT_FALSE(matches_collated("{'a': {'$nin': ['x', 'A']}}", "{'a': 'a'}"));
  EXPECT_TRUE(matches_collated("{'a': {'$all': ['A', 'B']}}", "{'a': ['a', 'b']}"));
  EXPECT_TRUE(matches_collated("{'a': {'$elemMatch': {'$gt': 'A', '$lt': 'C'}}}", "{'a': ['b']}"));
  EXPECT_FALSE(matches_collated("{'a': {'$gt': 'A'}}", "{'a': 'a'}"));
  EXPECT_TRUE(matches_collated("{'a': {'$gte': 'A'}}", "{'a': 'a'}"));
  EXPECT_TRUE(matches_collated("{'$expr': {'$eq': ['$a', 'A']}}", "{'a': 'a'}"));
  EXPECT_TRUE(matches_collated("{'$expr': {'$setEquals': ['$a', ['A']]}}", "{'a': ['a', 'A']}"));
  EXPECT_TRUE(matches_collated("{'$expr': {'$in': ['$a', ['x', 'A']]}}", "{'a': 'a'}"));
}

TEST(CollatedFilterTest, RegularExpressionsAndTextFunctions_CompareBytes) {
  EXPECT_FALSE(matches_collated("{'a': {'$regex': '^A'}}", "{'a': 'a'}"));
  EXPECT_FALSE(
      matches_collated("{'$expr': {'$gte': [{'$indexOfBytes': ['$a', 'A']}, 0]}}", "{'a': 'a'}"));
}

TEST(CollatedFilterTest, ConstantsOfExpressions_AreComputedWithTheCollation) {
  EXPECT_TRUE(matches_collated("{'$expr': {'$eq': ['a', 'A']}}", "{}"));
  EXPECT_TRUE(matches_collated("{'$expr': {'$eq': [{'$max': ['b', 'C']}, 'c']}}", "{}"));
}

TEST(CollatedPlanTest, IndexHasBoundsOnlyForWhatHoldsNoStrings) {
  const std::vector<IndexDefinition> indexes = {
      *IndexDefinition::parse(parse_json("{'key': {'a': 1}, 'name': 'a'}"))};
  const auto plan = [&](const char* filter, const char* sort = "{}") {
    const SharedCollator collator = ignoring_case();
    const Filter parsed = *Filter::parse(parse_json(filter), {.collator = collator});
    const Sort order = *Sort::parse(parse_json(sort), collator);
    return *make_plan(parsed, &order, indexes, {false}, std::nullopt, collator.get());
  };
  EXPECT_EQ(plan("{'a': 5}").kind, Plan::Kind::kIndexScan);
  EXPECT_EQ(plan("{'a': {'$gt': 5}}").kind, Plan::Kind::kIndexScan);
  EXPECT_EQ(plan("{'a': {'$regex': '^x'}}").kind, Plan::Kind::kIndexScan);
  for (const char* const filter :
       {"{'a': 'x'}", "{'a': {'$gte': 'x'}}", "{'a': {'$in': [1, 'x']}}", "{'a': ['x']}",
        "{'a': {'b': 1}}", "{'$expr': {'$eq': ['$a', 'x']}}", "{'$or': [{'a': 'x'}, {'a': 5}]}"}) {
    EXPECT_EQ(plan(filter).kind, Plan::Kind::kCollectionScan) << filter;
  }
  EXPECT_EQ(plan("{}", "{'a': 1}").kind, Plan::Kind::kCollectionScan);
  EXPECT_TRUE(plan("{'a': {'$gt': 5}}", "{'a': 1}").provides_sort);
}

// The index has the collation of the first queries, but not that of the others.
TEST(CollatedPlanTest, IndexWithACollation_HasBoundsForQueriesWithIt) {
  const std::vector<IndexDefinition> indexes = {*IndexDefinition::parse(
      parse_json("{'key': {'a': 1}, 'name': 'a', 'collation': {'locale': 'en', 'strength': 2}}"))};
  const auto plan = [&](const SharedCollator& collator, const char* filter,
                        const char* sort = "{}") {
    const Filter parsed = *Filter::parse(parse_json(filter), {.collator = collator});
    const Sort order = *Sort::parse(parse_json(sort), collator);
    return *make_plan(parsed, &order, indexes, {false}, std::nullopt, collator.get());
  };
  const SharedCollator own = ignoring_case();
  const Plan equal = plan(own, "{'a': 'x'}");
  EXPECT_EQ(equal.kind, Plan::Kind::kIndexScan);
  EXPECT_TRUE(equal.bounds_are_exact);
  const Plan joined = plan(own, "{'a': {'$gte': 'b', '$lte': 'B'}}");
  ASSERT_EQ(joined.bounds.size(), 1U);
  EXPECT_EQ(joined.bounds[0].size(), 1U);
  EXPECT_EQ(plan(own, "{'a': {'$in': ['b', 'A', 'B']}}").bounds[0].size(), 2U);
  EXPECT_TRUE(plan(own, "{}", "{'a': 1}").provides_sort);
  EXPECT_EQ(plan(own, "{'a': {'$regex': '^x'}}").kind, Plan::Kind::kCollectionScan);
  for (const SharedCollator& other :
       {SharedCollator(), *Collator::parse(parse_json("{'locale': 'fr'}"))}) {
    EXPECT_EQ(plan(other, "{'a': 'x'}").kind, Plan::Kind::kCollectionScan);
    EXPECT_EQ(plan(other, "{'a': {'$in': [1, 'x']}}").kind, Plan::Kind::kCollectionScan);
    EXPECT_EQ(plan(other, "{'a': {'$regex': '^x'}}").kind, Plan::Kind::kCollectionScan);
    EXPECT_EQ(plan(other, "{'a': {'$gt': 5}}").kind, Plan::Kind::kIndexScan);
    EXPECT_EQ(plan(other, "{}", "{'a': 1}").kind, Plan::Kind::kCollectionScan);
    EXPECT_TRUE(plan(other, "{'a': {'$gt': 5}}", "{'a': 1}").provides_sort);
  }
}

TEST(CollatedPlanTest, PartialIndex_IsNotImpliedByACollatedCondition) {
  const std::vector<IndexDefinition> indexes = {*IndexDefinition::parse(
      parse_json("{'key': {'n': 1}, 'name': 'n', 'partialFilterExpression': {'a': 'x'}}"))};
  const Filter filter =
      *Filter::parse(parse_json("{'n': 1, 'a': 'x'}"), {.collator = ignoring_case()});
  EXPECT_EQ(make_plan(filter, nullptr, indexes, {false}, std::nullopt, ignoring_case().get())->kind,
            Plan::Kind::kCollectionScan);
}

TEST(CollatedPlanTest, PartialIndexWithACollation_IsImpliedByConditionsWithIt) {
  const std::vector<IndexDefinition> indexes = {*IndexDefinition::parse(
      parse_json("{'key': {'n': 1}, 'name': 'n', 'partialFilterExpression': {'a': {'$gte': 'b'}},"
                 " 'collation': {'locale': 'en', 'strength': 2}}"))};
  const auto kind = [&](const SharedCollator& collator, const char* filter) {
    const Filter parsed = *Filter::parse(parse_json(filter), {.collator = collator});
    return make_plan(parsed, nullptr, indexes, {false}, std::nullopt, collator.get())->kind;
  };
  EXPECT_EQ(kind(ignoring_case(), "{'n': 1, 'a': 'B'}"), Plan::Kind::kIndexScan);
  EXPECT_EQ(kind(ignoring_case(), "{'n': 1, 'a': {'$gte': 'B'}}"), Plan::Kind::kIndexScan);
  EXPECT_EQ(kind(ignoring_case(), "{'n': 1, 'a': 'A'}"), Plan::Kind::kCollectionScan);
  EXPECT_EQ(kind(nullptr, "{'n': 1, 'a': 'c'}"), Plan::Kind::kCollectionScan);
}

TEST(CollatedSortTest, Order) {
  const Sort sort =
      *Sort::parse(parse_json("{'a': 1}"), *Collator::parse(parse_json("{'locale': 'en'}")));
  const auto key = [&](const char* document) { return *sort.key_of(parse_json(document)); };
  EXPECT_TRUE(sort.compare_keys(key("{'a': 'a'}"), key("{'a': 'B'}")) < 0);
  EXPECT_TRUE(sort.compare_keys(key("{'a': ['b', 'A']}"), key("{'a': 'B'}")) < 0);
}

// Both sides of a comparison of documents are written in the same way.
std::string shown_json(const char* document) {
  return show(parse_json(document));
}

std::string updated_collated(const char* update, const char* document,
                             const char* array_filters = "{}") {
  const bson::Document filters = parse_json(array_filters);
  const Result<Update> parsed =
      Update::parse(parse_json(update), {.array_filters = filters, .collator = ignoring_case()});
  if (!parsed) return parsed.error().message();
  const auto applied = parsed->apply(parse_json(document));
  return applied ? show(applied->document) : applied.error().message();
}

TEST(CollatedUpdateTest, Operators) {
  EXPECT_EQ(updated_collated("{'$addToSet': {'a': {'$each': ['b', 'D', 'd']}}}", "{'a': ['B']}"),
            shown_json("{'a':['B','D']}"));
  EXPECT_EQ(updated_collated("{'$pull': {'a': 'b'}}", "{'a': ['B', 'c']}"),
            shown_json("{'a':['c']}"));
  EXPECT_EQ(updated_collated("{'$pull': {'a': {'$gte': 'B'}}}", "{'a': ['b', 'a']}"),
            shown_json("{'a':['a']}"));
  EXPECT_EQ(updated_collated("{'$pullAll': {'a': ['b']}}", "{'a': ['B', 'c']}"),
            shown_json("{'a':['c']}"));
  EXPECT_EQ(updated_collated("{'$min': {'a': 'B'}}", "{'a': 'b'}"), shown_json("{'a':'b'}"));
  EXPECT_EQ(updated_collated("{'$max': {'a': 'C'}}", "{'a': 'b'}"), shown_json("{'a':'C'}"));
  EXPECT_EQ(updated_collated("{'$push': {'a': {'$each': ['b', 'A', 'B', 'a'], '$sort': 1}}}",
                             "{'a': ['c']}"),
            shown_json("{'a':['A','a','b','B','c']}"));
  EXPECT_EQ(
      updated_collated("{'$set': {'a.$[e]': 'Z'}}", "{'a': ['b', 'B', 'c']}", "{'0': {'e': 'b'}}"),
      shown_json("{'a':['Z','Z','c']}"));
}

TEST(CollatedUpdateTest, TheIdMustStayTheSameBytes) {
  EXPECT_NE(updated_collated("{'_id': 'K', 'v': 1}", "{'_id': 'k'}").find("immutable"),
            std::string::npos);
}

TEST(CollatedProjectionTest, PositionAndElementMatch) {
  const auto projected = [](const char* projection) {
    const bson::Document filter = parse_json("{'a': 'Y'}");
    Result<Projection> parsed =
        Projection::parse(parse_json(projection),
                          {.filter = filter.view(), .variables = {}, .collator = ignoring_case()});
    if (!parsed) return parsed.error().message();
    const bson::Document document = parse_json("{'a': ['x', 'y']}");
    return show(*parsed->apply(document));
  };
  EXPECT_EQ(projected("{'a.$': 1}"), shown_json("{'a':['y']}"));
  EXPECT_EQ(projected("{'a': {'$elemMatch': {'$eq': 'Y'}}}"), shown_json("{'a':['y']}"));
}

}  // namespace
}  // namespace gridmount::query
