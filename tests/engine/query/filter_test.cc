// Goal: filters match what MongoDB's manual and server say, and invalid filters are refused with
// MongoDB's codes.
// Method: tables of a filter, documents that match and documents that do not.

#include "engine/query/filter/filter.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/bson/builder.h"
#include "engine/query/filter/matched_position.h"
#include "engine/query/filter/predicate.h"
#include "tests/engine/query/filter_cases.h"

namespace gridmount::query {
namespace {

Filter parse(const std::string& json) {
  return parse_filter_json(json);
}

void check(const std::vector<FilterCase>& cases) {
  check_filters(cases);
}

TEST(FilterTest, Equality) {
  check({
      {"{}", {"{}", "{'a': 1}"}, {}},
      {"{'a': 1}",
       {"{'a': 1}", "{'a': 1.0}", "{'a': {'$numberLong': '1'}}", "{'a': [0, 1]}"},
       {"{}", "{'a': 2}", "{'a': '1'}", "{'a': true}", "{'a': [[1]]}"}},
      {"{'a': 'x'}", {"{'a': 'x'}", "{'a': {'$symbol': 'x'}}"}, {"{'a': 'X'}", "{'a': 'xy'}"}},
      {"{'a': null}",
       {"{}", "{'a': null}", "{'a': {'$undefined': true}}", "{'a': [1, null]}"},
       {"{'a': 0}", "{'a': []}", "{'a': false}"}},
      {"{'a': [1, 2]}",
       {"{'a': [1, 2]}", "{'a': [[1, 2]]}"},
       {"{'a': [2, 1]}", "{'a': [1, 2, 3]}"}},
      {"{'a': []}", {"{'a': []}", "{'a': [[]]}"}, {"{'a': null}", "{'a': [1]}"}},
      {"{'a': {'b': 1}}", {"{'a': {'b': 1}}"}, {"{'a': {'b': 1, 'c': 2}}", "{'a': {}}"}},
      {"{'a': {'b': 1, 'c': 2}}", {"{'a': {'b': 1, 'c': 2}}"}, {"{'a': {'c': 2, 'b': 1}}"}},
      {"{'a': {'$eq': {'b': 1}}}", {"{'a': {'b': 1}}"}, {"{'a': 1}"}},
      {"{'a': {'$numberDouble': 'NaN'}}", {"{'a': {'$numberDouble': 'NaN'}}"}, {"{'a': 1}"}},
      {"{'a': 1, 'b': 2}", {"{'a': 1, 'b': 2}"}, {"{'a': 1}", "{'b': 2}"}},
      {"{'$comment': 'why', 'a': 1}", {"{'a': 1}"}, {"{'a': 2}"}},
  });
}

TEST(FilterTest, Paths) {
  check({
      {"{'a.b': 1}",
       {"{'a': {'b': 1}}", "{'a': [{'b': 2}, {'b': 1}]}", "{'a': {'b': [1]}}",
        "{'a': [{'b': [0, 1]}]}"},
       {"{'a.b': 1}", "{'a': 1}", "{'a': [[{'b': 1}]]}"}},
      {"{'a.0': 1}",
       {"{'a': [1, 2]}", "{'a': {'0': 1}}", "{'a': {'0': [1]}}", "{'a': [2, {'0': [1]}]}"},
       {"{'a': [2, 1]}", "{'a': [[1]]}"}},
      {"{'a.0': [1]}", {"{'a': [[1]]}"}, {"{'a': [1]}", "{'a': [[[1]]]}"}},
      {"{'a.0': {'$ne': 1}}", {"{'a': [[1]]}", "{}"}, {"{'a': [1]}"}},
      {"{'a.0': {'$size': 1}}", {"{'a': [[1]]}"}, {"{'a': [1]}"}},
      {"{'a.0.0': 1}", {"{'a': [[1]]}"}, {"{'a': [[[1]]]}"}},
      {"{'a.0': null}",
       {"{}", "{'a': [null]}", "{'a': [{'b': 1}]}"},
       {"{'a': []}", "{'a': [1]}", "{'a': [{'0': 1}]}"}},
      {"{'a.0.b': null}", {"{'a': [{'b': 1}]}"}, {"{'a': [1]}", "{'a': [[{'b': 1}]]}"}},
      {"{'a.00': 1}", {"{'a': {'00': 1}}"}, {"{'a': [1]}"}},
      {"{'a.0.b': 1}", {"{'a': [[{'b': 1}]]}", "{'a': [{'b': [1]}]}"}, {"{'a': [0, {'b': 1}]}"}},
      {"{'a.1.b': 1}", {"{'a': [0, {'b': 1}]}"}, {"{'a': [{'b': 1}, 0]}"}},
      {"{'a.b': null}",
       {"{}", "{'a': 1}", "{'a': {}}", "{'a': {'b': null}}", "{'a': [{'b': 1}, {}]}"},
       {"{'a': {'b': 1}}", "{'a': []}", "{'a': [1]}", "{'a': [{'b': 1}]}"}},
      {"{'a.b.c': 5}", {"{'a': [{'b': [{'c': 5}]}]}"}, {"{'a': {'b': {'c': 6}}}"}},
  });
}

TEST(FilterTest, Comparison) {
  check({
      {"{'a': {'$gt': 5}}",
       {"{'a': 6}", "{'a': 5.5}", "{'a': [1, 9]}"},
       {"{'a': 5}", "{'a': '6'}", "{}", "{'a': null}", "{'a': {'$numberDouble': 'NaN'}}"}},
      {"{'a': {'$gte': 5}}", {"{'a': 5}"}, {"{'a': 4.9}"}},
      {"{'a': {'$lt': 5}}",
       {"{'a': 4}", "{'a': {'$numberDouble': '-Infinity'}}"},
       {"{'a': 5}", "{'a': {'$numberDouble': 'NaN'}}"}},
      {"{'a': {'$lte': 'm'}}", {"{'a': 'm'}", "{'a': ''}"}, {"{'a': 'n'}", "{'a': 1}"}},
      {"{'a': {'$gte': {'$numberDouble': 'NaN'}}}",
       {"{'a': {'$numberDouble': 'NaN'}}"},
       {"{'a': 1}"}},
      {"{'a': {'$gt': {'$numberDouble': 'NaN'}}}",
       {},
       {"{'a': {'$numberDouble': 'NaN'}}", "{'a': 1}"}},
      {"{'a': {'$gte': null}}", {"{}", "{'a': null}"}, {"{'a': 1}"}},
      {"{'a': {'$gt': null}}", {}, {"{}", "{'a': null}", "{'a': 1}"}},
      {"{'a': {'$gt': {'$minKey': 1}}}",
       {"{'a': 1}", "{'a': null}", "{'a': 'x'}", "{}"},
       {"{'a': {'$minKey': 1}}"}},
      {"{'a': {'$gte': {'$minKey': 1}}}", {"{'a': {'$minKey': 1}}", "{'a': 1}", "{}"}, {}},
      {"{'a': {'$lte': {'$minKey': 1}}}", {"{'a': {'$minKey': 1}}"}, {"{'a': null}", "{}"}},
      {"{'a': {'$lt': {'$maxKey': 1}}}",
       {"{'a': 1}", "{'a': {'$numberDouble': 'NaN'}}", "{}"},
       {"{'a': {'$maxKey': 1}}"}},
      {"{'a': {'$gte': {'$maxKey': 1}}}", {"{'a': {'$maxKey': 1}}"}, {"{'a': 1}", "{}"}},
      {"{'a': {'$eq': {'$minKey': 1}}}", {"{'a': {'$minKey': 1}}"}, {"{'a': 1}", "{}"}},
      {"{'a': {'$gt': 1, '$lt': 5}}", {"{'a': 3}", "{'a': [0, 9]}"}, {"{'a': 5}", "{'a': [0]}"}},
      {"{'a': {'$gt': {'b': 1}}}", {"{'a': {'b': 2}}"}, {"{'a': {'b': 1}}", "{'a': 5}"}},
      {"{'a': {'$gt': [1]}}", {"{'a': [1, 2]}"}, {"{'a': [1]}", "{'a': 5}"}},
      {"{'a': {'$ne': 1}}", {"{}", "{'a': 2}"}, {"{'a': 1}", "{'a': [1, 2]}"}},
      {"{'a': {'$in': [1, 'x', null]}}",
       {"{'a': 1}", "{'a': 'x'}", "{}", "{'a': [7, 1]}"},
       {"{'a': 2}"}},
      {"{'a': {'$in': []}}", {}, {"{}", "{'a': 1}"}},
      {"{'a': {'$in': [null]}}", {"{}", "{'a': {'$undefined': true}}"}, {"{'a': 1}"}},
      {"{'a': {'$in': [{'$regularExpression': {'pattern': '^x', 'options': ''}}]}}",
       {"{'a': 'xy'}", "{'a': {'$regularExpression': {'pattern': '^x', 'options': ''}}}"},
       {"{'a': 'yx'}", "{'a': {'$regularExpression': {'pattern': '^x', 'options': 'i'}}}"}},
      {"{'a': {'$in': [{'$regularExpression': {'pattern': '^x', 'options': ''}}, 3]}}",
       {"{'a': 'xy'}", "{'a': 3}"},
       {"{'a': 'yx'}"}},
      {"{'a': {'$nin': [1, 2]}}", {"{}", "{'a': 3}"}, {"{'a': 1}", "{'a': [3, 2]}"}},
  });
}

TEST(FilterTest, Logic) {
  check({
      {"{'$and': [{'a': 1}, {'b': 2}]}", {"{'a': 1, 'b': 2}"}, {"{'a': 1}"}},
      {"{'$or': [{'a': 1}, {'b': 2}]}", {"{'a': 1}", "{'b': 2}"}, {"{'a': 2}"}},
      {"{'$nor': [{'a': 1}, {'b': 2}]}", {"{}", "{'a': 2}"}, {"{'a': 1}", "{'b': 2}"}},
      {"{'c': 3, '$or': [{'a': 1}, {'b': 2}]}", {"{'a': 1, 'c': 3}"}, {"{'a': 1}", "{'c': 3}"}},
      {"{'a': {'$not': {'$gt': 5}}}",
       {"{}", "{'a': 5}", "{'a': 'x'}"},
       {"{'a': 6}", "{'a': [1, 6]}"}},
      {"{'a': {'$not': {'$gt': 1, '$lt': 5}}}",
       {"{'a': 1}", "{'a': 9}"},
       {"{'a': 3}", "{'a': [0, 9]}"}},
      {"{'a': {'$not': {'$regularExpression': {'pattern': '^x', 'options': ''}}}}",
       {"{'a': 'y'}", "{}"},
       {"{'a': 'x'}"}},
      {"{'a': {'$not': {'$ne': 1}}}", {"{'a': 1}"}, {"{'a': 2}", "{}"}},
      {"{'$and': [{'$or': [{'a': 1}, {'a': 2}]}, {'$nor': [{'b': 1}]}]}",
       {"{'a': 2}"},
       {"{'a': 2, 'b': 1}"}},
  });
}

TEST(FilterTest, Elements) {
  check({
      {"{'a': {'$exists': true}}", {"{'a': 1}", "{'a': null}", "{'a': []}"}, {"{}"}},
      {"{'a': {'$exists': false}}", {"{}"}, {"{'a': null}"}},
      {"{'a.b': {'$exists': true}}", {"{'a': [{}, {'b': 1}]}"}, {"{'a': [{}]}", "{'a': 1}"}},
      {"{'a.b': {'$exists': false}}", {"{'a': []}", "{'a': 1}"}, {"{'a': [{}, {'b': 1}]}"}},
      {"{'a': {'$type': 'string'}}", {"{'a': 'x'}", "{'a': [1, 'x']}"}, {"{'a': 1}", "{}"}},
      {"{'a': {'$type': 'number'}}", {"{'a': 1}", "{'a': 1.5}"}, {"{'a': '1'}"}},
  });
}

Result<Filter> type_filter(const bson::Value& type) {
  bson::Builder filter;
  filter.open_document("a").append("$type", type).close();
  return Filter::parse(std::move(filter).finish());
}

TEST(FilterTest, Type_NumbersAndLists) {
  EXPECT_TRUE(type_filter(bson::Value(-1))->matches(parse_json("{'a': {'$minKey': 1}}")));
  EXPECT_TRUE(type_filter(bson::Value(16.0))->matches(parse_json("{'a': 1}")));
  EXPECT_FALSE(type_filter(bson::Value(16))->matches(parse_json("{'a': 1.5}")));
  const bson::Value list = bson::Value::array(parse_json("{'0': 'string', '1': 16}"));
  EXPECT_TRUE(type_filter(list)->matches(parse_json("{'a': 'x'}")));
  EXPECT_TRUE(type_filter(list)->matches(parse_json("{'a': 1}")));
  EXPECT_FALSE(type_filter(list)->matches(parse_json("{'a': 1.5}")));
  EXPECT_TRUE(type_filter(bson::Value("array"))->matches(parse_json("{'a': []}")));
  EXPECT_TRUE(type_filter(bson::Value("array"))->matches(parse_json("{'a': [1]}")));
  EXPECT_FALSE(type_filter(bson::Value("array"))->matches(parse_json("{'a': 1}")));
  EXPECT_EQ(type_filter(bson::Value(77)).error().code(), ErrorCode::kBadValue);
  EXPECT_EQ(type_filter(bson::Value(1.5)).error().message(), "Invalid numerical type code: 1.5");
  EXPECT_EQ(type_filter(bson::Value(1e300 * 1e300)).error().message(),
            "Invalid numerical type code: inf");
  EXPECT_EQ(type_filter(bson::Value(true)).error().code(), ErrorCode::kTypeMismatch);
  EXPECT_EQ(type_filter(bson::Value::array(bson::View())).error().code(),
            ErrorCode::kFailedToParse);
}

TEST(FilterTest, RegexAndMod) {
  check({
      {"{'a': {'$regularExpression': {'pattern': '^ab', 'options': 'i'}}}",
       {"{'a': 'ABc'}", "{'a': ['x', 'ab']}"},
       {"{'a': 'cab'}", "{'a': 1}", "{}"}},
      {"{'a': {'$regex': 'b$'}}", {"{'a': 'ab'}", "{'a': {'$symbol': 'b'}}"}, {"{'a': 'ba'}"}},
      {"{'a': {'$regex': 'b.c', '$options': 's'}}", {"{'a': 'b\\nc'}"}, {"{'a': 'bc'}"}},
      {"{'a': {'$options': 'x', '$regex': 'b  c'}}", {"{'a': 'bc'}"}, {"{'a': 'b  c'}"}},
      {"{'a': {'$regex': '^b', '$options': 'm'}}", {"{'a': 'a\\nb'}"}, {"{'a': 'a b'}"}},
      {"{'a': {'$regex': 'ü', '$options': 'i'}}", {"{'a': 'Ü'}"}, {"{'a': 'u'}"}},
      {"{'a': {'$mod': [4, 0]}}",
       {"{'a': 8}", "{'a': 8.9}", "{'a': [1, 4]}"},
       {"{'a': 6}", "{'a': '8'}"}},
      {"{'a': {'$mod': [-1, 0]}}", {"{'a': {'$numberLong': '-9223372036854775808'}}"}, {}},
  });
  EXPECT_EQ(parse("{'a': {'$regex': '^ab\\\\.c+'}}").predicate().literal_prefix(), "ab.c");
  EXPECT_EQ(parse("{'a': {'$regex': '^abc'}}").predicate().literal_prefix(), "abc");
  EXPECT_EQ(parse("{'a': {'$regex': '^abc*'}}").predicate().literal_prefix(), "ab");
  EXPECT_EQ(parse("{'a': {'$regex': '^abc{0}'}}").predicate().literal_prefix(), "ab");
  EXPECT_EQ(parse("{'a': {'$regex': '^abü?'}}").predicate().literal_prefix(), "ab");
  EXPECT_EQ(parse("{'a': {'$regex': '^a|b'}}").predicate().literal_prefix(), "");
  EXPECT_EQ(parse("{'a': {'$regex': '^a', '$options': 'i'}}").predicate().literal_prefix(), "");
  EXPECT_EQ(parse("{'a': {'$regex': 'abc'}}").predicate().literal_prefix(), "");
  EXPECT_EQ(parse("{'a': {'$regex': '^\\\\d'}}").predicate().literal_prefix(), "");
}

TEST(FilterTest, Regex_OfEndlessBacktracking_Ends) {
  bson::Builder document;
  document.append("a", std::string(100'000, 'a') + "b");
  EXPECT_FALSE(parse("{'a': {'$regex': '^(a+)+$'}}").matches(std::move(document).finish()));
}

TEST(FilterTest, Regex_NeedingMuchStack_IsMatched) {
  bson::Builder document;
  document.append("a", std::string(50'000, 'a') + "c");
  EXPECT_TRUE(parse("{'a': {'$regex': '^(a|b)*c$'}}").matches(std::move(document).finish()));
}

TEST(FilterTest, Arrays) {
  check({
      {"{'a': {'$size': 2}}", {"{'a': [1, 2]}"}, {"{'a': [1]}", "{'a': 2}", "{'a': [[1, 2]]}"}},
      {"{'a': {'$all': [1, 2]}}", {"{'a': [2, 3, 1]}"}, {"{'a': [1]}", "{'a': 1}"}},
      {"{'a': {'$all': [1]}}", {"{'a': 1}", "{'a': [1]}"}, {"{'a': 2}"}},
      {"{'a': {'$all': []}}", {}, {"{}", "{'a': []}"}},
      {"{'a': {'$all': [[1, 2]]}}", {"{'a': [1, 2]}", "{'a': [[1, 2]]}"}, {"{'a': [2]}"}},
      {"{'a': {'$elemMatch': {'$gt': 1, '$lt': 5}}}",
       {"{'a': [0, 3]}"},
       {"{'a': [0, 9]}", "{'a': 3}", "{'a': [[3]]}"}},
      {"{'a': {'$elemMatch': {'b': 1, 'c': {'$gt': 2}}}}",
       {"{'a': [{'b': 1, 'c': 3}]}"},
       {"{'a': [{'b': 1, 'c': 2}, {'b': 2, 'c': 3}]}", "{'a': {'b': 1, 'c': 3}}"}},
      {"{'a': {'$elemMatch': {'$or': [{'b': 1}, {'b': 2}]}}}",
       {"{'a': [{'b': 2}]}"},
       {"{'a': [{'b': 3}]}"}},
      {"{'a': {'$elemMatch': {'$ne': 1}}}", {"{'a': [1, 2]}"}, {"{'a': [1]}", "{'a': []}"}},
      {"{'a': {'$all': [{'$elemMatch': {'b': 1}}, {'$elemMatch': {'b': 2}}]}}",
       {"{'a': [{'b': 1}, {'b': 2}]}"},
       {"{'a': [{'b': 1}]}"}},
      {"{'a': {'$not': {'$elemMatch': {'$gt': 1}}}}", {"{'a': [1]}", "{}"}, {"{'a': [2]}"}},
  });
}

TEST(FilterTest, Refused_RegexOptions) {
  const auto code = [](const bson::Value& regex, const bson::Value& options) {
    bson::Builder filter;
    filter.open_document("a").append("$regex", regex).append("$options", options).close();
    return static_cast<int>(Filter::parse(std::move(filter).finish()).error().code());
  };
  EXPECT_EQ(code(bson::Value("a"), bson::Value("q")), 51108);
  bson::Builder alone;
  alone.open_document("a").append("$options", "i").close();
  EXPECT_EQ(Filter::parse(std::move(alone).finish()).error().code(), ErrorCode::kBadValue);
  EXPECT_EQ(code(bson::Value("a"), bson::Value(1)), 2);
  EXPECT_EQ(code(bson::Value(1), bson::Value("i")), 2);
  EXPECT_EQ(code(bson::Value(std::string("a\0b", 3)), bson::Value("i")), 2);
  bson::Builder regex;
  regex.append_regex("r", "a", "i");
  EXPECT_EQ(code(bson::Value(std::move(regex).finish().view()["r"]), bson::Value("s")), 51075);
}

// {a: {$not: {$not: ... {$gt: 1}}}}, or with {$and: [{$and: ... {a: 1}}]}.
Result<Filter> nested_filter(bool fields, int levels) {
  bson::Builder filter;
  if (fields) {
    filter.open_document("a");
    for (int i = 0; i < levels; ++i) filter.open_document("$not");
    filter.append("$gt", int32_t{1});
    for (int i = 0; i < levels; ++i) filter.close();
    filter.close();
  } else {
    for (int i = 0; i < levels; ++i) filter.open_array("$and").push_open_document();
    filter.append("a", int32_t{1});
    for (int i = 0; i < levels; ++i) filter.close().close();
  }
  return Filter::parse(std::move(filter).finish());
}

TEST(FilterTest, Refused_NestedTooDeep) {
  for (const bool fields : {false, true}) {
    EXPECT_TRUE(nested_filter(fields, kMaxFilterDepth));
    const Result<Filter> deeper = nested_filter(fields, kMaxFilterDepth + 1);
    ASSERT_FALSE(deeper);
    EXPECT_EQ(deeper.error().code(), ErrorCode::kBadValue);
    EXPECT_FALSE(nested_filter(fields, 100'000));
  }
}

TEST(FilterTest, BeyondItsMemory_IsRefused) {
  const auto parse_branches = [](int32_t count) {
    bson::Builder filter;
    filter.open_array("$or");
    for (int32_t i = 0; i < count; ++i) filter.push_open_document().append("a", i).close();
    filter.close();
    return Filter::parse(std::move(filter).finish());
  };
  EXPECT_TRUE(parse_branches(100'000));
  const Result<Filter> larger = parse_branches(400'000);
  ASSERT_FALSE(larger);
  EXPECT_EQ(static_cast<int>(larger.error().code()), 146);
  EXPECT_EQ(larger.error().message(), "the filter needs more than 104857600 bytes of memory");
}

// A list as long as a command can hold.
TEST(FilterTest, AMillionValues_AreFound) {
  bson::Builder filter;
  filter.open_document("a").open_array("$in");
  for (int32_t i = 0; i < 1 << 20; ++i) filter.push(bson::Value(i ^ 0xFFF).view());
  filter.close().close();
  const Result<Filter> parsed = Filter::parse(std::move(filter).finish());
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_TRUE(parsed->matches(parse_json("{'a': 999999}")));
  EXPECT_TRUE(parsed->matches(parse_json("{'a': [0.0]}")));
  EXPECT_FALSE(parsed->matches(parse_json("{'a': 1048576}")));
}

TEST(FilterTest, Equalities) {
  const auto names = [](const char* json) {
    const Filter filter = parse(json);
    std::string text;
    for (const auto& [path, value] : filter.equalities()) text += path + " ";
    return text;
  };
  EXPECT_EQ(names("{'a': 1, 'b.c': {'$eq': 2}, '$and': [{'d': 3}, {'e': {'$gt': 1}}]}"),
            "a b.c d ");
  EXPECT_EQ(names("{'$or': [{'a': 1}]}"), "a ");
  EXPECT_EQ(names("{'$or': [{'a': 1}, {'b': 1}], '$nor': [{'c': 1}]}"), "");
  EXPECT_EQ(names("{'a': {'$in': [1, 1.0]}, 'b': {'$in': [1, 2]}, 'c': {'$all': [1]}}"), "a c ");
  EXPECT_EQ(names("{'a': {'$ne': 1}, 'b': {'$not': {'$eq': 1}}}"), "");
}

TEST(FilterTest, MatchedPosition) {
  struct PositionCase {
    const char* filter;
    const char* document;
    std::optional<size_t> position;
    // The position for a projection, if that is another one.
    std::optional<size_t> projected = position;
  };
  const PositionCase kCases[] = {
      {"{'a': 5}", "{'a': 5}", std::nullopt},
      {"{'a': 5}", "{'a': [1, 5, 5]}", 1},
      {"{'a': [1, 5]}", "{'a': [1, 5]}", std::nullopt},
      {"{'a': [1, 5]}", "{'a': [2, [1, 5]]}", 1},
      {"{'a.b': 5}", "{'a': [{'b': 1}, 3, {'b': 5}]}", 2},
      {"{'a.b': 5}", "{'a': [{'b': [1, 2]}, {'b': [3, 4, 5]}]}", 1},
      {"{'a.b': 5}", "{'a': {'b': [1, 2, 5]}}", 2},
      {"{'a.b': null}", "{'a': [{'b': 1}, {}]}", 1},
      {"{'a.b': null}", "{'a': 3}", std::nullopt},
      // A position in the path does not search the array.
      {"{'a.1': 5}", "{'a': [5, 5]}", std::nullopt},
      {"{'a.1.b': 5}", "{'a': [1, {'b': 5}]}", std::nullopt},
      {"{'a': {'$elemMatch': {'$gt': 2, '$lt': 4}}}", "{'a': [1, 5, 3]}", 2},
      {"{'a': {'$elemMatch': {'b': 1, 'c': 2}}}", "{'a': [{'b': 1}, {'b': 1, 'c': 2}]}", 1},
      {"{'a.b': {'$elemMatch': {'$gt': 2}}}", "{'a': [{'b': [1]}, {'b': [1, 2, 3]}]}", 1},
      {"{'a': {'$size': 2}}", "{'a': [1, 2]}", std::nullopt},
      {"{'a': {'$exists': true}}", "{'a': [7, 8]}", 0},
      {"{'a': {'$exists': true}}", "{'a': []}", std::nullopt},
      {"{'a.b': {'$exists': true}}", "{'a': [{'c': 1}, {'b': 1}]}", 1},
      {"{'a.0': {'$exists': true}}", "{'a': [7, 8]}", std::nullopt},
      {"{'a.b': {'$exists': false}}", "{'a': [7, 8]}", std::nullopt},
      // If several conditions are on arrays, the one tested last counts. For a projection this is
      // the last condition, for an update the condition that servers test last.
      {"{'a': {'$exists': true}, 'b': 2}", "{'a': [1], 'b': [1, 2]}", 0, 1},
      {"{'b': 2, 'a': {'$exists': true}}", "{'a': [1], 'b': [1, 2]}", 0},
      {"{'a': {'$exists': true, '$eq': 2}}", "{'a': [1, 2]}", 0, 1},
      {"{'a': {'$gt': 1, '$lt': 2}}", "{'a': [1, 2]}", 1, 0},
      {"{'b': 5, 'a': 2}", "{'a': [1, 2], 'b': [5]}", 0, 1},
      {"{'a': 1, 'c': 3}", "{'a': [2, 1], 'c': 3}", 1},
      {"{'a': {'$all': [1, 2]}}", "{'a': [0, 1, 2]}", 2},
      {"{'$or': [{'a': 9}, {'a': 2}]}", "{'a': [0, 1, 2]}", 2},
      {"{'$or': [{'a': 2}, {'a': 1}]}", "{'a': [0, 1, 2]}", 1},
      {"{'$or': [{'a': 2}]}", "{'a': [0, 1, 2]}", 2},
      {"{'$or': [{'a': 2}, {'b': 9}]}", "{'a': [0, 1, 2]}", std::nullopt},
      {"{'$or': [{'a': {'$gt': 1}}, {'a': 1}]}", "{'a': [0, 1, 2]}", std::nullopt},
      {"{'$and': [{'a': {'$gt': 1}}, {'a': {'$lt': 5}}]}", "{'a': [1, 2, 3]}", 1, 0},
      {"{'$and': [{'a': {'$gt': 1}}, {'a': 3}]}", "{'a': [1, 2, 3]}", 1, 2},
      {"{'a': {'$ne': 9}}", "{'a': [0, 1]}", std::nullopt},
      {"{'$nor': [{'a': 9}]}", "{'a': [0, 1]}", std::nullopt},
      {"{}", "{'a': [0, 1]}", std::nullopt},
  };
  for (const PositionCase& one : kCases) {
    const Filter filter = parse(one.filter);
    const bson::Document document = parse_json(one.document);
    ASSERT_TRUE(filter.matches(document)) << one.filter << one.document;
    EXPECT_EQ(filter.matched_position(document), one.position) << one.filter << one.document;
    EXPECT_EQ(projected_position(filter, document), one.projected) << one.filter << one.document;
  }
}

}  // namespace
}  // namespace gridmount::query
