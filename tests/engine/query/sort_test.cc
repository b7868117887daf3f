// Goal: sort keys and their order are MongoDB's.

#include "engine/query/sort.h"

#include <gtest/gtest.h>

#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

bool comes_before(const char* sort, const char* a, const char* b) {
  const Result<Sort> parsed = Sort::parse(parse_json(sort));
  if (!parsed) throw std::runtime_error(parsed.error().message());
  return parsed->compare_keys(*parsed->key_of(parse_json(a)), *parsed->key_of(parse_json(b))) < 0;
}

std::string key(const char* sort, const char* document) {
  const auto values = Sort::parse(parse_json(sort))->key_of(parse_json(document));
  if (!values) return values.error().message();
  std::string text;
  for (const bson::Value& value : *values) {
    text += (text.empty() ? "" : " ") + bson::to_json(value, bson::JsonForm::kRelaxed);
  }
  return text;
}

TEST(SortTest, Order) {
  EXPECT_TRUE(comes_before("{'a': 1}", "{'a': 1}", "{'a': 2}"));
  EXPECT_TRUE(comes_before("{'a': -1}", "{'a': 2}", "{'a': 1}"));
  EXPECT_TRUE(comes_before("{'a': 1, 'b': -1}", "{'a': 1, 'b': 2}", "{'a': 1, 'b': 1}"));
  EXPECT_TRUE(comes_before("{'a': 1}", "{}", "{'a': 1}"));
  EXPECT_FALSE(comes_before("{'a': 1}", "{}", "{'a': null}"));
  EXPECT_FALSE(comes_before("{'a': 1}", "{'a': null}", "{}"));
  EXPECT_TRUE(comes_before("{'a': 1}", "{'a': []}", "{'a': null}"));
  EXPECT_TRUE(comes_before("{'a': 1}", "{'a': 5}", "{'a': 'x'}"));
  EXPECT_TRUE(comes_before("{'a.b': 1}", "{'a': {'b': 1}}", "{'a': {'b': 2}}"));
}

TEST(SortTest, PartsOfPaths_AreLimited) {
  std::string path = "a";
  for (int part = 1; part < 200; ++part) path += ".a";
  EXPECT_TRUE(Sort::parse(parse_json("{'" + path + "': 1}")));
  const Result<Sort> longer = Sort::parse(parse_json("{'" + path + ".a': 1}"));
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code(), ErrorCode::kOverflow);
}

TEST(SortTest, Arrays_ByLeastAscendingAndGreatestDescending) {
  EXPECT_TRUE(comes_before("{'a': 1}", "{'a': [9, 1]}", "{'a': [2, 3]}"));
  EXPECT_TRUE(comes_before("{'a': -1}", "{'a': [9, 1]}", "{'a': [2, 3]}"));
  EXPECT_TRUE(comes_before("{'a.b': -1}", "{'a': [{'b': 1}, {'b': 9}]}", "{'a': {'b': 8}}"));
  EXPECT_TRUE(comes_before("{'a.b': 1}", "{'a': [{'b': 9}, {}]}", "{'a': {'b': 1}}"));
}

// As in an index, an array element that is not a document lacks the field, which is null.
TEST(SortTest, ArraysOnTheWay) {
  EXPECT_EQ(key("{'a.b': 1}", "{'a': [1, {'b': 5}]}"), "null");
  EXPECT_EQ(key("{'a.b': -1}", "{'a': [1, {'b': 5}]}"), "5");
  EXPECT_EQ(key("{'a.b': -1}", "{'a': [[{'b': 5}]]}"), "null");
  EXPECT_EQ(key("{'a.b': 1}", "{'a': []}"), "null");
  EXPECT_EQ(key("{'a.b': 1}", "{'a': {'b': [3, 2]}}"), "2");
  EXPECT_EQ(key("{'a.b': 1}", "{'a': [{'b': [3, 2]}, {'b': 4}]}"), "2");
  EXPECT_EQ(key("{'a.1': 1}", "{'a': [9, 7, 5]}"), "7");
  EXPECT_EQ(key("{'a.1.b': 1}", "{'a': [{'b': 1}, {'b': [4, 3]}]}"), "3");
  EXPECT_EQ(key("{'a.0': 1}", "{'a': [[3, 2], 1]}"), "2");
  EXPECT_EQ(key("{'a.7': 1}", "{'a': [9, {'7': 3}]}"), "null");
}

// Parts that pass through the same array take their values from one element. Parts that pass
// through different arrays are an error, as in mongod 6.0.5, even if an array is empty.
TEST(SortTest, ArraysUnderSeveralParts) {
  constexpr char kPairs[] = "{'a': [{'b': 2, 'c': 1}, {'b': 1, 'c': 9}, {'b': 1, 'c': 8}], 'd': 4}";
  EXPECT_EQ(key("{'a.b': 1, 'a.c': 1}", kPairs), "1 8");
  EXPECT_EQ(key("{'a.b': 1, 'd': 1, 'a.c': -1}", kPairs), "1 4 9");
  EXPECT_EQ(key("{'a.c': 1, 'a.b': 1}", kPairs), "1 2");
  constexpr char kRefused[] = "cannot sort with keys that are parallel arrays";
  EXPECT_EQ(key("{'a': -1, 'b': 1}", "{'a': [1, 2], 'b': [4, 3]}"), kRefused);
  EXPECT_EQ(key("{'a': 1, 'b': 1}", "{'a': [], 'b': []}"), kRefused);
  EXPECT_EQ(key("{'a.b': 1, 'a.c': 1}", "{'a': [{'b': [1], 'c': [2]}]}"), kRefused);
  EXPECT_EQ(key("{'a': 1, 'b': 1}", "{'a': [1, 2], 'b': 4}"), "1 4");
  EXPECT_EQ(key("{'a.0': 1, 'a': 1}", "{'a': [5, 2]}"), "5 2");
  // The same holds if a part enters its array by position, but not if both are within one array.
  EXPECT_EQ(key("{'a.0': 1, 'b.0': 1}", "{'a': [1], 'b': [1]}"), kRefused);
  EXPECT_EQ(key("{'a.0.c': 1, 'b': 1}", "{'a': [{'c': 1}], 'b': []}"), kRefused);
  EXPECT_EQ(key("{'a.0': 1, 'a': 1}", "{'a': [[7], 2]}"), "7 2");
  EXPECT_EQ(key("{'a.0.c': 1, 'a.c': 1}", "{'a': [[{'c': 1}]]}"), "1 null");
}

// The _id of a stored document is never an array, but that of a document in a pipeline may be.
TEST(SortTest, ByIdAlone_ArraysAreWhole) {
  EXPECT_TRUE(comes_before("{'_id': 1}", "{'_id': null}", "{'_id': []}"));
  EXPECT_TRUE(comes_before("{'_id': 1}", "{'_id': 'x'}", "{'_id': ['a']}"));
  EXPECT_TRUE(comes_before("{'_id': 1, 'a': 1}", "{'_id': []}", "{'_id': null}"));
}

TEST(SortTest, Directions_AreCutOffOrRounded) {
  for (const char* const one :
       {"1.5", "1.99", "{'$numberLong': '1'}", "{'$numberDecimal': '0.9'}"}) {
    const std::string sort = "{'a': " + std::string(one) + "}";
    EXPECT_TRUE(comes_before(sort.c_str(), "{'a': 1}", "{'a': 2}")) << one;
  }
  EXPECT_TRUE(comes_before("{'a': -1.5}", "{'a': 2}", "{'a': 1}"));
}

TEST(SortTest, Refused) {
  const std::pair<const char*, int> kCases[] = {
      {"{'a': 2}", 15975},
      {"{'a': 'x'}", 15974},
      {"{'a': 0.5}", 15975},
      {"{'': 1}", 40352},
      {"{'$x': 1}", 16410},
      {"{'a..b': 1}", 15998},
      {"{'a.': 1}", 40353},
      {"{'a.': 'x'}", 15974},
      {"{'a.$x': 1}", 16410},
      {"{'a': {}}", 17312},
      {"{'a': {'b': 1}}", 17312},
      {"{'a': {'$meta': 'textScore'}}", 15974},
      {"{'a': {'$numberDecimal': '1.5'}}", 15975},
  };
  for (const auto& [sort, code] : kCases) {
    const Result<Sort> parsed = Sort::parse(parse_json(sort));
    ASSERT_FALSE(parsed) << sort;
    EXPECT_EQ(static_cast<int>(parsed.error().code()), code) << sort;
  }
  EXPECT_TRUE(Sort::parse(parse_json("{'a': 1.0, 'b': {'$numberLong': '-1'}, 'ref.$id': 1}")));
}

}  // namespace
}  // namespace gridmount::query
