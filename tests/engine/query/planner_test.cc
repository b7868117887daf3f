// Goal: the planner takes the index that bounds a query best, knows when an index provides the
// order, and claims "exact" only if it is true. tests/engine/contract/model_contract.cc checks on a
// real store that bounds let all matches through.

#include "engine/query/plan/planner.h"

#include <gtest/gtest.h>

#include "engine/bson/builder.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

struct Indexes {
  std::vector<IndexDefinition> definitions;
  std::vector<bool> multikey;

  Indexes& add(const std::string& keys, bool is_multikey = false) {
    IndexDefinition definition;
    definition.keys = parse_json(keys);
    definition.name = keys;
    definitions.push_back(std::move(definition));
    multikey.push_back(is_multikey);
    return *this;
  }
};

std::string describe(const Plan& plan, const Indexes& indexes) {
  if (plan.kind == Plan::Kind::kCollectionScan) return plan.backward ? "scan backward" : "scan";
  std::string text;
  if (plan.kind == Plan::Kind::kUnion) {
    for (const Plan& branch : plan.branches) {
      text += (text.empty() ? "" : " or ") + describe(branch, indexes);
    }
    return text;
  }
  text = indexes.definitions[plan.index].name;
  for (const std::vector<Interval>& part : plan.bounds) {
    text += " ";
    for (const Interval& interval : part) {
      if (interval.is_point()) {
        text += bson::to_json(interval.low, bson::JsonForm::kRelaxed);
      } else {
        text += (interval.low_inclusive ? "[" : "(") +
                bson::to_json(interval.low, bson::JsonForm::kRelaxed) + ".." +
                bson::to_json(interval.high, bson::JsonForm::kRelaxed) +
                (interval.high_inclusive ? "]" : ")");
      }
    }
  }
  if (plan.backward) text += " backward";
  if (plan.provides_sort) text += " sorted";
  if (plan.bounds_are_exact) text += " exact";
  return text;
}

std::string plan(const Indexes& indexes, const std::string& filter, const std::string& sort = "{}",
                 const std::optional<bson::Value>& hint = {}) {
  const Result<Filter> parsed = Filter::parse(parse_json(filter));
  const Result<Sort> order = Sort::parse(parse_json(sort));
  const Result<Plan> made = make_plan(*parsed, order->empty() ? nullptr : &*order,
                                      indexes.definitions, indexes.multikey, hint);
  if (!made) return made.error().message();
  return describe(*made, indexes);
}

// Returns {path: {$in: [0, 1, ...]}} with `count` values.
bson::Document list_of(int32_t count, const std::string& path) {
  bson::Builder filter;
  filter.open_document(path).open_array("$in");
  for (int32_t i = 0; i < count; ++i) filter.push(bson::Value(i).view());
  filter.close().close();
  return std::move(filter).finish();
}

Plan plan_of(const Indexes& indexes, bson::View filter) {
  const Result<Filter> parsed = Filter::parse(filter);
  return make_plan(*parsed, nullptr, indexes.definitions, indexes.multikey, std::nullopt).value();
}

TEST(PlannerTest, ManyPoints_AreOneInterval) {
  Indexes one;
  one.add("{'a': 1}");
  const Plan few = plan_of(one, list_of(100'000, "a"));
  EXPECT_EQ(few.bounds[0].size(), 100'000);
  EXPECT_TRUE(few.bounds_are_exact);
  const Plan many = plan_of(one, list_of(300'000, "a"));
  EXPECT_EQ(describe(many, one), "{'a': 1} [0..299999]");
}

// The planner intersects two long lists in one pass along both.
TEST(PlannerTest, ManyPointsTwice_AreIntersected) {
  Indexes one;
  one.add("{'a': 1}");
  bson::Builder twice;
  twice.open_array("$and").push(list_of(100'000, "a").view()).push(list_of(90'000, "a").view());
  twice.close();
  const Plan both = plan_of(one, std::move(twice).finish());
  EXPECT_EQ(both.bounds[0].size(), 90'000);
}

TEST(PlannerTest, ManyBranches_AreAListOrNone) {
  Indexes one;
  one.add("{'a': 1}");
  const auto branches = [&](int32_t count, bool is_other) {
    bson::Builder any;
    any.open_array("$or");
    for (int32_t i = 0; i < count; ++i) {
      any.push_open_document().append("a", i);
      if (is_other) any.append("b", 1);
      any.close();
    }
    any.close();
    return plan_of(one, std::move(any).finish());
  };
  EXPECT_EQ(branches(1000, false).branches.size(), 1000);
  EXPECT_EQ(branches(1000, true).branches.size(), 1000);
  const Plan list = branches(20'000, false);
  EXPECT_EQ(list.kind, Plan::Kind::kIndexScan);
  EXPECT_EQ(list.bounds[0].size(), 20'000);
  EXPECT_TRUE(list.bounds_are_exact);
  EXPECT_EQ(branches(20'000, true).kind, Plan::Kind::kCollectionScan);
}

// $in refuses such a document, but an equality with it is allowed.
TEST(PlannerTest, ManyBranches_WithADocumentThatAListRefuses_AreNone) {
  Indexes one;
  one.add("{'a': 1}");
  bson::Builder any;
  any.open_array("$or");
  any.push(parse_json("{'a': {'$eq': {'$x': 1}}}").view());
  for (int32_t i = 0; i < 20'000; ++i) any.push_open_document().append("a", i).close();
  any.close();
  EXPECT_EQ(plan_of(one, std::move(any).finish()).kind, Plan::Kind::kCollectionScan);
}

TEST(PlannerTest, Bounds) {
  Indexes one;
  one.add("{'a': 1}");
  EXPECT_EQ(plan(one, "{}"), "scan");
  EXPECT_EQ(plan(one, "{'b': 1}"), "scan");
  EXPECT_EQ(plan(one, "{'a': 1}"), "{'a': 1} 1 exact");
  EXPECT_EQ(plan(one, "{'a': 1, 'b': 2}"), "{'a': 1} 1");
  EXPECT_EQ(plan(one, "{'a': {'$gt': 1, '$lte': 5}}"), "{'a': 1} (1..5] exact");
  EXPECT_EQ(plan(one, "{'a': {'$gt': 5, '$lt': 1}}"), "{'a': 1}  exact");
  EXPECT_EQ(plan(one, "{'a': {'$gte': 'x'}}"), "{'a': 1} [\"x\"..{  }) exact");
  EXPECT_EQ(plan(one, "{'a': {'$in': [3, 1, 3]}}"), "{'a': 1} 13 exact");
  EXPECT_EQ(plan(one, "{'a': null}"), "{'a': 1} { \"$undefined\" : true }null exact");
  EXPECT_EQ(plan(one, "{'a': {'$exists': false}}"), "{'a': 1} null");
  EXPECT_EQ(plan(one, "{'a': {'$not': {'$exists': true}}}"), "{'a': 1} null");
  EXPECT_EQ(plan(one, "{'a': {'$ne': 1}}"), "scan");
  EXPECT_EQ(plan(one, "{'a': {'$not': {'$ne': 1}}}"), "{'a': 1} 1 exact");
  EXPECT_EQ(plan(one, "{'a': {'$not': {'$not': {'$gt': 1, '$lte': 5}}}}"), "{'a': 1} (1..5] exact");
  EXPECT_EQ(plan(one, "{'a': {'$exists': true}}"), "scan");
  EXPECT_EQ(plan(one, "{'a': {'$regex': 'x'}}"), "scan");
  EXPECT_TRUE(plan(one, "{'a': {'$regex': '^ab'}}").starts_with("{'a': 1} [\"ab\"..\"ac\")"));
  EXPECT_TRUE(
      plan(one, "{'a': {'$in': [{'$regularExpression': {'pattern': '^ab', 'options': ''}}]}}")
          .starts_with("{'a': 1} [\"ab\"..\"ac\")"));
  EXPECT_EQ(plan(one, "{'a': [1, 2]}"), "{'a': 1} 1[ 1, 2 ]");
  EXPECT_EQ(plan(one, "{'$or': [{'a': 1}]}"), "{'a': 1} 1 exact");
  EXPECT_EQ(plan(one, "{'a': {'$gt': 'abc'}, '$and': [{'a': {'$regex': '^ab'}}]}"),
            "{'a': 1} (\"abc\"..\"ac\")");
  Indexes two;
  two.add("{'a': 1, 'b': 1}");
  EXPECT_EQ(plan(two, "{'a': null, 'b': 'x'}"),
            "{'a': 1, 'b': 1} { \"$undefined\" : true }null \"x\" exact");
}

TEST(PlannerTest, BoundsOfTypes) {
  Indexes one;
  one.add("{'a': 1}");
  EXPECT_EQ(plan(one, "{'a': {'$type': 'bool'}}"), "{'a': 1} [false..true]");
  EXPECT_EQ(plan(one, "{'a': {'$type': 'int'}}"),
            "{'a': 1} [{ \"$numberDouble\" : \"NaN\" }..{ \"$numberDouble\" : \"Infinity\" }]");
  EXPECT_EQ(plan(one, "{'a': {'$type': ['null', 'string']}}"), "{'a': 1} null[\"\"..{  })");
  // The bounds for one type of numbers include the numbers of all types.
  EXPECT_EQ(plan(one, "{'a': {'$type': 'number'}}"), plan(one, "{'a': {'$type': 'int'}}"));
  for (const char* const type : {"array", "regex", "minKey", "undefined", "javascript"}) {
    EXPECT_EQ(plan(one, "{'a': {'$type': ['bool', '" + std::string(type) + "']}}"), "scan") << type;
  }
}

// A document in the array `a` lacks the field `0`, which a filter treats as null.
TEST(PlannerTest, Positions) {
  Indexes position;
  position.add("{'a.0': 1}");
  EXPECT_EQ(plan(position, "{'a.0': 1}"), "{'a.0': 1} 1 exact");
  EXPECT_EQ(plan(position, "{'a.0': null}"), "scan");
  EXPECT_EQ(plan(position, "{'a.0': {'$in': [1, null]}}"), "scan");
  EXPECT_EQ(plan(position, "{'a.0': {'$exists': false}}"), "scan");
}

// An index without arrays serves the comparisons of an expression. They compare values of all
// types, and a missing field, which is indexed as null, is less than null.
TEST(PlannerTest, Expressions) {
  const Indexes indexes = Indexes().add("{'a': 1, 'b': 1}");
  const auto of = [&](const std::string& expression) {
    return plan(indexes, "{'$expr': " + expression + "}");
  };
  EXPECT_EQ(of("{'$eq': ['$a', 5]}"), "{'a': 1, 'b': 1} 5");
  EXPECT_EQ(of("{'$eq': [5, '$a']}"), "{'a': 1, 'b': 1} 5");
  EXPECT_EQ(of("{'$eq': ['$a', null]}"), "{'a': 1, 'b': 1} null");
  EXPECT_EQ(of("{'$gt': ['$a', 5]}"), R"({'a': 1, 'b': 1} (5..{ "$maxKey" : 1 }])");
  EXPECT_EQ(of("{'$gt': [5, '$a']}"), R"({'a': 1, 'b': 1} [{ "$minKey" : 1 }..5))");
  EXPECT_EQ(of("{'$gte': ['$a', 'x']}"), R"({'a': 1, 'b': 1} ["x"..{ "$maxKey" : 1 }])");
  EXPECT_EQ(of("{'$lte': ['$a', {'$add': [2, 3]}]}"), R"({'a': 1, 'b': 1} [{ "$minKey" : 1 }..5])");
  EXPECT_EQ(of("{'$lt': ['$a', null]}"), R"({'a': 1, 'b': 1} [{ "$minKey" : 1 }..null])");
  EXPECT_EQ(of("{'$and': [{'$eq': ['$b', 'x']}, {'$eq': ['$a', 5]}, '$c']}"),
            R"({'a': 1, 'b': 1} 5 "x")");
  EXPECT_EQ(plan(indexes, "{'a': 5, '$expr': {'$gt': ['$b', 1]}}"),
            R"({'a': 1, 'b': 1} 5 (1..{ "$maxKey" : 1 }])");
  EXPECT_EQ(plan(indexes, "{'a': {'$lt': 9}, '$expr': {'$gt': ['$a', 5]}}"),
            "{'a': 1, 'b': 1} (5..9)");
  EXPECT_EQ(plan(indexes, "{'$or': [{'$expr': {'$eq': ['$a', 5]}}, {'a': 7}]}"),
            "{'a': 1, 'b': 1} 5 or {'a': 1, 'b': 1} 7 exact");
  for (const char* const none :
       {"{'$ne': ['$a', 5]}", "{'$eq': ['$a', '$b']}", "{'$or': [{'$eq': ['$a', 5]}]}",
        "{'$eq': ['$a', [5]]}", "{'$not': {'$eq': ['$a', 5]}}", "{'$eq': ['$$ROOT', 5]}",
        "{'$eq': ['$a.0', 5]}", "{'$eq': ['$c', 5]}", "{'$eq': [{'$abs': '$a'}, 5]}"}) {
    EXPECT_EQ(of(none), "scan") << none;
  }
  EXPECT_EQ(plan(Indexes().add("{'a': 1}", true), "{'$expr': {'$eq': ['$a', 5]}}"), "scan");
  EXPECT_EQ(plan(Indexes().add("{'a.0': 1}"), "{'$expr': {'$eq': ['$a.0', 5]}}"), "scan");
}

// A filter without a time of its own has another $$NOW in each match.
TEST(PlannerTest, ExpressionsWithTheTime_OfAKeptFilter_HaveNoBounds) {
  const Indexes indexes = Indexes().add("{'a': 1}");
  const bson::Document specification = parse_json("{'$expr': {'$lt': ['$a', '$$NOW']}}");
  for (const std::optional<bson::Date>& now : {std::optional(bson::Date{5000}), {}}) {
    FilterOptions options;
    options.now = now;
    const Result<Filter> filter = Filter::parse(specification, options);
    ASSERT_TRUE(filter);
    const auto plan =
        make_plan(*filter, nullptr, indexes.definitions, indexes.multikey, std::nullopt);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->kind == Plan::Kind::kIndexScan, now.has_value());
  }
}

TEST(PlannerTest, SparseIndexes_AndExpressions) {
  Indexes sparse = Indexes().add("{'a': 1}");
  sparse.definitions[0].sparse = true;
  EXPECT_EQ(plan(sparse, "{'$expr': {'$eq': ['$a', 5]}}"), "{'a': 1} 5");
  EXPECT_EQ(plan(sparse, "{'$expr': {'$gte': ['$a', null]}}"),
            R"({'a': 1} [null..{ "$maxKey" : 1 }])");
  EXPECT_EQ(plan(sparse, "{'$expr': {'$lt': ['$a', 5]}}"), "scan");
}

TEST(PlannerTest, Choice) {
  Indexes indexes;
  indexes.add("{'a': 1}").add("{'a': 1, 'b': 1}").add("{'b': 1}");
  EXPECT_EQ(plan(indexes, "{'a': 1, 'b': 2}"), "{'a': 1, 'b': 1} 1 2 exact");
  EXPECT_EQ(plan(indexes, "{'a': 1, 'b': {'$gt': 2}}"),
            "{'a': 1, 'b': 1} 1 (2..{ \"$numberDouble\" : \"Infinity\" }] exact");
  EXPECT_EQ(plan(indexes, "{'a': {'$gt': 1}, 'b': 2}"), "{'b': 1} 2");
  EXPECT_EQ(plan(indexes, "{'$or': [{'a': 1}, {'b': 2}]}"), "{'a': 1} 1 exact or {'b': 1} 2 exact");
  EXPECT_EQ(plan(indexes, "{'c': 3, '$or': [{'a': 1}, {'b': 2}]}"), "{'a': 1} 1 or {'b': 1} 2");
  EXPECT_EQ(plan(indexes, "{'$or': [{'a': 1}, {'c': 2}]}"), "scan");
}

TEST(PlannerTest, Sort) {
  Indexes indexes;
  indexes.add("{'a': 1, 'b': 1}").add("{'c': 1, 'd': -1}");
  EXPECT_EQ(plan(indexes, "{}", "{'a': 1}"), "{'a': 1, 'b': 1} sorted exact");
  EXPECT_EQ(plan(indexes, "{}", "{'a': -1, 'b': -1}"), "{'a': 1, 'b': 1} backward sorted exact");
  EXPECT_EQ(plan(indexes, "{}", "{'a': 1, 'b': -1}"), "scan");
  EXPECT_EQ(plan(indexes, "{'a': 1}", "{'b': -1}"), "{'a': 1, 'b': 1} 1 backward sorted exact");
  EXPECT_EQ(plan(indexes, "{'a': {'$in': [1, 2]}}", "{'b': 1}"), "{'a': 1, 'b': 1} 12 exact");
  EXPECT_EQ(plan(indexes, "{}", "{'c': -1, 'd': 1}"), "{'c': 1, 'd': -1} backward sorted exact");
  EXPECT_EQ(plan(indexes, "{'a': 1}", "{'a': -1, 'b': 1}"), "{'a': 1, 'b': 1} 1 sorted exact");
}

// The planner does not omit the sort of one document. Its callers do so where servers do.
TEST(PlannerTest, Sort_OfOneDocument_IsASort) {
  const Indexes indexes = Indexes().add("{'_id': 1}");
  EXPECT_EQ(plan(indexes, "{'_id': 5}", "{'a': 1, 'b': -1}"), "{'_id': 1} 5 exact");
  EXPECT_EQ(plan(indexes, "{'_id': 5, 'a': 1}", "{'a': 1, 'b': -1}"), "{'_id': 1} 5");
  EXPECT_EQ(plan(indexes, "{'_id': {'$in': [5, 6]}}", "{'a': 1}"), "{'_id': 1} 56 exact");
}

TEST(PlannerTest, Multikey) {
  Indexes indexes;
  indexes.add("{'a': 1}", true);
  EXPECT_EQ(plan(indexes, "{'a': {'$gt': 1, '$lt': 5}}"),
            "{'a': 1} (1..{ \"$numberDouble\" : \"Infinity\" }]");
  EXPECT_EQ(plan(indexes, "{'a': {'$gt': 1, '$eq': 5}}"), "{'a': 1} 5");
  EXPECT_EQ(plan(indexes, "{}", "{'a': 1}"), "scan");
  Indexes compound;
  compound.add("{'a.b': 1, 'a.c': 1, 'd': 1}", true);
  EXPECT_EQ(plan(compound, "{'a.b': 1, 'a.c': 2, 'd': 3}"),
            "{'a.b': 1, 'a.c': 1, 'd': 1} 1 [{ \"$minKey\" : 1 }..{ \"$maxKey\" : 1 }] 3");
}

TEST(PlannerTest, Hint) {
  Indexes indexes;
  indexes.add("{'a': 1}").add("{'b': 1}");
  EXPECT_EQ(plan(indexes, "{'a': 1}", "{}", bson::Value("{'b': 1}")), "{'b': 1}");
  EXPECT_EQ(plan(indexes, "{'a': 1}", "{}", bson::Value(parse_json("{'b': 1.0}").view())),
            "{'b': 1}");
  EXPECT_EQ(plan(indexes, "{'a': 1}", "{}", bson::Value(parse_json("{'$natural': -1}").view())),
            "scan backward");
  EXPECT_EQ(plan(indexes, "{'a': 1}", "{}", bson::Value("x")),
            "hint provided does not correspond to an existing index");
}

}  // namespace
}  // namespace gridmount::query
