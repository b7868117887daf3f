// Goal: all values have one total order, and it is MongoDB's.
// Method: the documented order as a list, and random values checked for the laws of an order.

#include "engine/bson/compare.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/bson/json.h"
#include "tests/engine/bson/random_bson.h"

namespace gridmount::bson {
namespace {

Value from_json(const std::string& json) {
  Result<Document> document = document_from_json("{\"v\": " + json + "}");
  if (!document) throw std::runtime_error(document.error().message());
  return Value((*document).view()["v"]);
}

TEST(Compare, DocumentedOrder) {
  // Each value is less than the next.
  const char* const kAscending[] = {
      R"({"$minKey": 1})",
      R"({"$undefined": true})",
      "null",
      R"({"$numberDouble": "NaN"})",
      R"({"$numberDouble": "-Infinity"})",
      R"({"$numberDecimal": "-1E400"})",
      R"({"$numberLong": "-9223372036854775808"})",
      "-1",
      R"({"$numberDecimal": "-1E-400"})",
      "0",
      R"({"$numberDecimal": "1E-400"})",
      R"({"$numberDecimal": "0.1"})",
      "0.1",
      "1",
      R"({"$numberLong": "9007199254740992"})",
      R"({"$numberLong": "9007199254740993"})",
      R"({"$numberDecimal": "9007199254740993.5"})",
      R"({"$numberDouble": "9007199254740994"})",
      R"({"$numberLong": "9223372036854775807"})",
      R"({"$numberDouble": "9223372036854775808"})",
      R"({"$numberDecimal": "1E+400"})",
      R"({"$numberDouble": "Infinity"})",
      R"("")",
      R"("A")",
      R"("a")",
      R"("aa")",
      R"("b")",
      "{}",
      R"({"a": 1})",
      R"({"a": 1, "b": 1})",
      R"({"a": 2})",
      R"({"b": 1})",
      R"({"a": "x"})",
      "[]",
      "[1]",
      "[1, 2]",
      "[2]",
      R"({"$binary": {"base64": "", "subType": "00"}})",
      R"({"$binary": {"base64": "AA==", "subType": "00"}})",
      R"({"$binary": {"base64": "AA==", "subType": "05"}})",
      R"({"$oid": "000000000000000000000000"})",
      R"({"$oid": "000000000000000000000001"})",
      "false",
      "true",
      R"({"$date": {"$numberLong": "-1"}})",
      R"({"$date": {"$numberLong": "0"}})",
      R"({"$timestamp": {"t": 1, "i": 2}})",
      R"({"$timestamp": {"t": 2, "i": 1}})",
      R"({"$regularExpression": {"pattern": "a", "options": ""}})",
      R"({"$regularExpression": {"pattern": "a", "options": "i"}})",
      R"({"$code": "a"})",
      R"({"$maxKey": 1})",
  };
  for (size_t i = 0; i < std::size(kAscending); ++i) {
    for (size_t j = 0; j < std::size(kAscending); ++j) {
      EXPECT_TRUE(compare(from_json(kAscending[i]), from_json(kAscending[j])) == (i <=> j))
          << kAscending[i] << " and " << kAscending[j];
    }
  }
}

TEST(Compare, EqualAcrossTypes) {
  EXPECT_TRUE(compare(Value(1), Value(1.0)) == 0);
  EXPECT_TRUE(compare(Value(int64_t{1}), decimal_value("1.00")) == 0);
  EXPECT_TRUE(compare(Value(0.0), Value(-0.0)) == 0);
  EXPECT_TRUE(compare(Value(0), decimal_value("-0E+10")) == 0);
  EXPECT_TRUE(compare(Value(std::numeric_limits<double>::quiet_NaN()), decimal_value("NaN")) == 0);
  EXPECT_TRUE(compare(Value(std::numeric_limits<double>::infinity()), decimal_value("Infinity")) ==
              0);
  EXPECT_TRUE(compare(Value(0.5), decimal_value("0.5")) == 0);
  EXPECT_TRUE(compare(Value(0.1), decimal_value("0.1")) != 0);
}

TEST(Compare, RandomValues_AreTotallyOrdered) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  RandomBson random(seed);
  for (int round = 0; round < 20'000; ++round) {
    const Value a = random.value();
    const Value b = random.value();
    const Value c = random.value();
    ASSERT_TRUE(compare(a, a) == 0);
    ASSERT_EQ(compare(a, b) < 0, compare(b, a) > 0);
    ASSERT_EQ(compare(a, b) == 0, compare(b, a) == 0);
    if (compare(a, b) <= 0 && compare(b, c) <= 0) {
      ASSERT_TRUE(compare(a, c) <= 0)
          << to_json(a, JsonForm::kCanonical) << " " << to_json(b, JsonForm::kCanonical) << " "
          << to_json(c, JsonForm::kCanonical);
    }
  }
}

}  // namespace
}  // namespace gridmount::bson
