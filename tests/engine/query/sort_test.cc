// Goal: sort keys and their order as MongoDB has them.

#include "engine/query/sort.h"

#include <gtest/gtest.h>

#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

bool comes_before(const char* sort, const char* a, const char* b) {
  const Result<Sort> parsed = Sort::parse(parse_json(sort));
  if (!parsed) throw std::runtime_error(parsed.error().message());
  return parsed->compare_keys(parsed->key_of(parse_json(a)), parsed->key_of(parse_json(b))) < 0;
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

TEST(SortTest, Arrays_ByLeastAscendingAndGreatestDescending) {
  EXPECT_TRUE(comes_before("{'a': 1}", "{'a': [9, 1]}", "{'a': [2, 3]}"));
  EXPECT_TRUE(comes_before("{'a': -1}", "{'a': [9, 1]}", "{'a': [2, 3]}"));
  EXPECT_TRUE(comes_before("{'a.b': -1}", "{'a': [{'b': 1}, {'b': 9}]}", "{'a': {'b': 8}}"));
  EXPECT_TRUE(comes_before("{'a.b': 1}", "{'a': [{'b': 9}, {}]}", "{'a': {'b': 1}}"));
}

TEST(SortTest, Refused) {
  for (const char* sort : {"{'a': 2}", "{'a': 'x'}", "{'a': 1.5}", "{'': 1}", "{'$x': 1}"}) {
    const Result<Sort> parsed = Sort::parse(parse_json(sort));
    ASSERT_FALSE(parsed) << sort;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kBadValue) << sort;
  }
  EXPECT_TRUE(Sort::parse(parse_json("{'a': 1.0, 'b': {'$numberLong': '-1'}}")));
}

}  // namespace
}  // namespace gridmount::query
