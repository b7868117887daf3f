// Goal: values read back as they were written, and numbers of any type read as GridFS needs them.

#include "engine/bson/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "tests/engine/bson/random_bson.h"

namespace gridmount::bson {
namespace {

TEST(ObjectIdTest, Hex) {
  const std::string digits = "0123456789abcdef01234567";
  const std::optional<ObjectId> id = ObjectId::from_hex(digits);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->hex(), digits);
  EXPECT_EQ(id->seconds(), 0x01234567U);
  EXPECT_EQ(ObjectId::from_hex(""), std::nullopt);
  EXPECT_EQ(ObjectId::from_hex(std::string_view()), std::nullopt);
  EXPECT_EQ(ObjectId::from_hex("0123456789abcdef0123456"), std::nullopt);
  EXPECT_EQ(ObjectId::from_hex("0123456789abcdef0123456g"), std::nullopt);
}

TEST(ObjectIdTest, Generated_AreUniqueAndOfNow) {
  std::set<ObjectId> seen;
  for (int i = 0; i < 10'000; ++i) seen.insert(ObjectId::generate());
  EXPECT_EQ(seen.size(), 10'000U);
  const int64_t seconds = Date::now().milliseconds / 1000;
  EXPECT_LE(std::abs(int64_t{seen.begin()->seconds()} - seconds), 60);
}

TEST(ValueTest, Integral) {
  EXPECT_EQ(Value(5).view().integral(), 5);
  EXPECT_EQ(Value(int64_t{-5}).view().integral(), -5);
  EXPECT_EQ(Value(5.0).view().integral(), 5);
  EXPECT_EQ(Value(5.5).view().integral(), std::nullopt);
  EXPECT_EQ(Value(0x1p63).view().integral(), std::nullopt);
  EXPECT_EQ(Value(-0x1p63).view().integral(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Value(std::numeric_limits<double>::quiet_NaN()).view().integral(), std::nullopt);
  EXPECT_EQ(decimal_value("262144.0").view().integral(), 262144);
  EXPECT_EQ(Value("5").view().integral(), std::nullopt);
}

TEST(ValueTest, Number) {
  EXPECT_EQ(Value(5).view().number(), 5.0);
  EXPECT_EQ(decimal_value("0.1").view().number(), 0.1);
  EXPECT_EQ(Value(true).view().number(), std::nullopt);
}

TEST(ValueTest, Equality_IsOfBytes) {
  EXPECT_EQ(Value(1), Value(1));
  EXPECT_FALSE(Value(1) == Value(1.0));
  EXPECT_FALSE(Value(false) == Value());
}

TEST(ValueTest, StringsMayHoldNul) {
  const std::string text("a\0b", 3);
  EXPECT_EQ(Value(text).view().as_string(), text);
}

}  // namespace
}  // namespace gridmount::bson
