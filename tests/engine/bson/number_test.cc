// Goal: numbers of all types are ordered exactly. Method: known values, and random ones whose order
// by floor and digits must be the order by value, which long double or decimal text tells.

#include "engine/bson/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/bson/json.h"
#include "tests/engine/bson/random_bson.h"

namespace gridmount::bson {
namespace {

TEST(Number, FloorOfIntegers) {
  EXPECT_EQ(floor_to_double(Value(int64_t{9007199254740993})), 9007199254740992.0);
  EXPECT_FALSE(is_exact_double(Value(int64_t{9007199254740993})));
  EXPECT_EQ(floor_to_double(Value(int64_t{-9007199254740993})), -9007199254740994.0);
  EXPECT_EQ(floor_to_double(Value(std::numeric_limits<int64_t>::max())), 9223372036854774784.0);
  EXPECT_EQ(floor_to_double(Value(std::numeric_limits<int64_t>::min())), -0x1p63);
  EXPECT_TRUE(is_exact_double(Value(std::numeric_limits<int64_t>::min())));
}

TEST(Number, FloorOfDecimals) {
  EXPECT_EQ(floor_to_double(decimal_value("1E+400")), std::numeric_limits<double>::max());
  EXPECT_EQ(floor_to_double(decimal_value("-1E+400")), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(floor_to_double(decimal_value("1E-400")), 0.0);
  EXPECT_EQ(floor_to_double(decimal_value("-1E-400")), -5e-324);
  EXPECT_TRUE(std::isnan(floor_to_double(decimal_value("NaN"))));
  EXPECT_FALSE(std::signbit(floor_to_double(decimal_value("-0"))));
  EXPECT_TRUE(is_exact_double(decimal_value("0.5")));
  EXPECT_FALSE(is_exact_double(decimal_value("0.1")));
  // The nearest double of 0.1 is above it.
  EXPECT_EQ(floor_to_double(decimal_value("0.1")), std::nextafter(0.1, 0.0));
}

TEST(Number, DecimalToInt64) {
  EXPECT_EQ(to_int64(decimal("12")), 12);
  EXPECT_EQ(to_int64(decimal("1.2E+1")), 12);
  EXPECT_EQ(to_int64(decimal("12.00")), 12);
  EXPECT_EQ(to_int64(decimal("-0")), 0);
  EXPECT_EQ(to_int64(decimal("9223372036854775807")), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(to_int64(decimal("-9223372036854775808")), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(to_int64(decimal("9223372036854775808")), std::nullopt);
  EXPECT_EQ(to_int64(decimal("1.5")), std::nullopt);
  EXPECT_EQ(to_int64(decimal("1E+6000")), std::nullopt);
  EXPECT_EQ(to_int64(decimal("NaN")), std::nullopt);
  EXPECT_EQ(to_int64(decimal("Infinity")), std::nullopt);
}

TEST(Number, SortBytes_EqualNumbersHaveEqualBytes) {
  EXPECT_EQ(decimal_sort_bytes(Value(int64_t{9007199254740993})),
            decimal_sort_bytes(decimal_value("9007199254740993")));
  EXPECT_EQ(decimal_sort_bytes(decimal_value("9007199254740993.0")),
            decimal_sort_bytes(decimal_value("9.007199254740993E+15")));
}

// The order an index has: by floor, then exact ones first, then by bytes.
std::weak_ordering key_order(const Value& a, const Value& b) {
  const double floor_a = floor_to_double(a);
  const double floor_b = floor_to_double(b);
  if (std::isnan(floor_a) || std::isnan(floor_b))
    return std::isnan(floor_b) <=> std::isnan(floor_a);
  if (floor_a != floor_b)
    return floor_a < floor_b ? std::weak_ordering::less : std::weak_ordering::greater;
  const bool exact_a = is_exact_double(a);
  const bool exact_b = is_exact_double(b);
  if (exact_a || exact_b) return exact_b <=> exact_a;
  return decimal_sort_bytes(a) <=> decimal_sort_bytes(b);
}

TEST(Number, RandomNumbers_KeysAndComparisonAgree) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  RandomBson random(seed);
  for (int round = 0; round < 20'000; ++round) {
    const Value a = random.number();
    const Value b = random.number();
    ASSERT_TRUE(compare_numbers(a, b) == key_order(a, b))
        << to_json(a, JsonForm::kCanonical) << " and " << to_json(b, JsonForm::kCanonical);
    // An independent judge where there is one: 64 bits of mantissa hold both exactly.
    const bool judged = a.type() != Type::kDecimal128 && b.type() != Type::kDecimal128;
    if (!judged) continue;
    const auto exact = [](const Value& value) {
      return value.type() == Type::kInt64 ? static_cast<long double>(value.view().as_int64())
                                          : static_cast<long double>(*value.view().number());
    };
    if (std::isnan(exact(a)) || std::isnan(exact(b))) continue;
    const std::weak_ordering expected = exact(a) < exact(b)   ? std::weak_ordering::less
                                        : exact(a) > exact(b) ? std::weak_ordering::greater
                                                              : std::weak_ordering::equivalent;
    ASSERT_TRUE(compare_numbers(a, b) == expected)
        << to_json(a, JsonForm::kCanonical) << " and " << to_json(b, JsonForm::kCanonical);
  }
}

}  // namespace
}  // namespace gridmount::bson
