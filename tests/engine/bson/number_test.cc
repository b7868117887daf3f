// Goal: numbers of all types are ordered exactly.
// Method: known values, and random values that are close together. Their order by floor and digits
// must be equal to their order as big integers.

#include "engine/bson/number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/bson/json.h"
#include "tests/engine/bson/random_bson.h"
#include "tests/sanitized.h"

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
  // The nearest double to 0.1 is above it.
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

// Source: in MongoDB's tests of command arguments, decimals are rounded half to even.
TEST(Number, ClampedInteger_IsWhatServersRead) {
  const auto of_decimal = [](const char* text) { return *clamped_integer(decimal_value(text)); };
  EXPECT_EQ(of_decimal("0.5"), 0);
  EXPECT_EQ(of_decimal("0.5000000000000000000000000000001"), 1);
  EXPECT_EQ(of_decimal("1.5"), 2);
  EXPECT_EQ(of_decimal("2.5"), 2);
  EXPECT_EQ(of_decimal("2.4999999999999999999999999999999"), 2);
  EXPECT_EQ(of_decimal("-0.5"), 0);
  EXPECT_EQ(of_decimal("-1.5"), -2);
  EXPECT_EQ(of_decimal("-0.6"), -1);
  EXPECT_EQ(of_decimal("-0.4"), 0);
  EXPECT_EQ(of_decimal("9007199254740993.7"), 9007199254740994);
  EXPECT_EQ(of_decimal("-9007199254740993.5"), -9007199254740994);
  EXPECT_EQ(of_decimal("9007199254740992.5"), 9007199254740992);
  EXPECT_EQ(of_decimal("9223372036854775806.5"), 9223372036854775806);
  EXPECT_EQ(of_decimal("9223372036854775807.4"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(of_decimal("9223372036854775807.5"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(of_decimal("-9223372036854775808.9"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(of_decimal("0.05"), 0);
  EXPECT_EQ(of_decimal("-Infinity"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(of_decimal("1E+400"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(of_decimal("NaN"), 0);
  EXPECT_EQ(clamped_integer(Value(1.9)), 1);
  EXPECT_EQ(clamped_integer(Value(-1.9)), -1);
  EXPECT_EQ(clamped_integer(Value(std::numeric_limits<double>::quiet_NaN())), 0);
  EXPECT_EQ(clamped_integer(Value(-1e300)), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(clamped_integer(Value("1")), std::nullopt);
}

TEST(Number, SortBytes_EqualNumbersHaveEqualBytes) {
  EXPECT_EQ(decimal_sort_bytes(Value(int64_t{9007199254740993})),
            decimal_sort_bytes(decimal_value("9007199254740993")));
  EXPECT_EQ(decimal_sort_bytes(decimal_value("9007199254740993.0")),
            decimal_sort_bytes(decimal_value("9.007199254740993E+15")));
}

// The order of index keys: by floor, then exact values first, then by bytes.
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
  for (int round = 0; round < random_rounds(20'000); ++round) {
    const Value a = random.number();
    const Value b = random.number();
    ASSERT_TRUE(compare_numbers(a, b) == key_order(a, b))
        << to_json(a, JsonForm::kCanonical) << " and " << to_json(b, JsonForm::kCanonical);
  }
}

// Many of these decimals share a floor: some are far apart but have no double between them, and
// some lie on both sides of a power of ten.
TEST(Number, DecimalsWithoutADouble_AreOrdered) {
  const char* const kAscending[] = {"-9E+6144", "-1.5E+6144",
                                    "-2E+500",  "-3E+499",
                                    "-1E+400",  "-1.0000000000000000000001E+23",
                                    "-1E+23",   "-9.9999999999999999999E+22",
                                    "-2E-330",  "-3E-331",
                                    "-1E-6176", "1E-6176",
                                    "9E-6176",  "3E-331",
                                    "2E-330",   "9.9999999999999999999E+22",
                                    "1E+23",    "1.0000000000000000000001E+23",
                                    "1E+400",   "3E+499",
                                    "2E+500",   "1.5E+6144",
                                    "9E+6144"};
  for (size_t i = 0; i < std::size(kAscending); ++i) {
    for (size_t j = 0; j < std::size(kAscending); ++j) {
      const Value a = decimal_value(kAscending[i]);
      const Value b = decimal_value(kAscending[j]);
      EXPECT_FALSE(is_exact_double(a));
      EXPECT_TRUE(compare_numbers(a, b) == (i <=> j)) << kAscending[i] << " " << kAscending[j];
      EXPECT_TRUE(key_order(a, b) == (i <=> j)) << kAscending[i] << " " << kAscending[j];
    }
  }
}

// A natural number of any size, as a reference that shares no code with the tested functions.
class Natural {
 public:
  explicit Natural(uint64_t value)
      : words_{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)} {}

  Natural& multiply(uint32_t factor, int times) {
    while (times > 0) {
      uint32_t power = 1;
      for (; times > 0 && power <= UINT32_MAX / factor; --times) power *= factor;
      uint64_t carry = 0;
      for (uint32_t& word : words_) {
        carry += uint64_t{word} * power;
        word = static_cast<uint32_t>(carry);
        carry >>= 32;
      }
      if (carry != 0) words_.push_back(static_cast<uint32_t>(carry));
    }
    return *this;
  }

  Natural& add(uint32_t summand) {
    uint64_t carry = summand;
    for (uint32_t& word : words_) {
      carry += word;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_.push_back(static_cast<uint32_t>(carry));
    return *this;
  }

  friend std::weak_ordering operator<=>(const Natural& a, const Natural& b) {
    for (size_t i = std::max(a.words_.size(), b.words_.size()); i-- > 0;) {
      const uint32_t left = i < a.words_.size() ? a.words_[i] : 0;
      const uint32_t right = i < b.words_.size() ? b.words_[i] : 0;
      if (left != right) return left <=> right;
    }
    return std::weak_ordering::equivalent;
  }
  bool is_zero() const { return *this <=> Natural(0) == 0; }

 private:
  std::vector<uint32_t> words_;
};

// coefficient * 10^tens * 2^twos with a sign, and the equal BSON value.
struct Judged {
  Value value;
  bool negative;
  Natural coefficient;
  int tens;
  int twos;
};

Judged judged(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return {Value(value), value < 0, Natural(value < 0 ? ~bits + 1 : bits), 0, 0};
}

Judged judged(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  return {Value(value), value < 0, Natural(static_cast<uint64_t>(std::ldexp(fraction, 53))), 0,
          exponent - 53};
}

// `digits` may have at most 34 digits.
Judged judged(bool negative, const std::string& digits, int tens) {
  Natural coefficient(0);
  for (const char digit : digits) {
    coefficient.multiply(10, 1).add(static_cast<uint32_t>(digit - '0'));
  }
  return {decimal_value((negative ? "-" : "") + digits + "E" + std::to_string(tens)), negative,
          coefficient, tens, 0};
}

std::weak_ordering judge(const Judged& a, const Judged& b) {
  const int sign_a = a.coefficient.is_zero() ? 0 : a.negative ? -1 : 1;
  const int sign_b = b.coefficient.is_zero() ? 0 : b.negative ? -1 : 1;
  if (sign_a != sign_b) return sign_a <=> sign_b;
  const int tens = std::min(a.tens, b.tens);
  const int twos = std::min(a.twos, b.twos);
  Natural left = a.coefficient;
  Natural right = b.coefficient;
  left.multiply(10, a.tens - tens).multiply(2, a.twos - twos);
  right.multiply(10, b.tens - tens).multiply(2, b.twos - twos);
  return sign_a < 0 ? right <=> left : left <=> right;
}

// Returns numbers of the three types close to one random double. Some are equal.
std::vector<Judged> neighbours(RandomBson& random) {
  const bool negative = random.chance(2);
  const int scale = random.chance(10) ? static_cast<int>(random.index(2000)) - 1050
                                      : static_cast<int>(random.index(130)) - 40;
  const double size =
      std::ldexp(static_cast<double>(random.index(uint64_t{1} << (1 + random.index(53)))),
                 std::min(scale, 1023 - 53));
  const double middle = negative ? -size : size;
  std::vector<Judged> all{judged(middle), judged(std::nextafter(middle, -1e308)),
                          judged(std::nextafter(middle, 1e308))};
  if (size < 0x1p62) {
    const auto integer = static_cast<int64_t>(middle);
    for (const int64_t near : {int64_t{-1}, int64_t{0}, int64_t{1}}) {
      all.push_back(judged(integer + near));
      all.push_back(judged(integer + near < 0,
                           std::to_string(integer + near).substr(integer + near < 0 ? 1 : 0), 0));
    }
  }
  // The double's first digits: unchanged, padded with zeros, and with the last one changed.
  for (const int count : {1, 15, 17, 20, 34}) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, size);
    const std::string printed(text);
    const size_t e = printed.find('e');
    std::string digits = printed.substr(0, 1);
    if (count > 1) digits += printed.substr(2, e - 2);
    const int tens = std::stoi(printed.substr(e + 1)) - (count - 1);
    all.push_back(judged(negative, digits, tens));
    const int zeros = static_cast<int>(random.index(static_cast<size_t>(35 - count)));
    all.push_back(
        judged(negative, digits + std::string(static_cast<size_t>(zeros), '0'), tens - zeros));
    digits.back() = static_cast<char>('0' + random.index(10));
    all.push_back(judged(negative, digits, tens));
  }
  return all;
}

TEST(Number, NeighboursOfAllTypes_AreOrderedByValue) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  RandomBson random(seed);
  int equal = 0;
  for (int round = 0; round < random_rounds(300); ++round) {
    const std::vector<Judged> all = neighbours(random);
    for (const Judged& a : all) {
      const double floor = floor_to_double(a.value);
      ASSERT_EQ(is_exact_double(a.value), judge(judged(floor), a) == 0);
      ASSERT_TRUE(judge(judged(floor), a) <= 0) << to_json(a.value, JsonForm::kCanonical);
      ASSERT_TRUE(judge(judged(std::nextafter(floor, HUGE_VAL)), a) > 0)
          << to_json(a.value, JsonForm::kCanonical);
      for (const Judged& b : all) {
        const std::weak_ordering expected = judge(a, b);
        ASSERT_TRUE(compare_numbers(a.value, b.value) == expected)
            << to_json(a.value, JsonForm::kCanonical) << " and "
            << to_json(b.value, JsonForm::kCanonical);
        ASSERT_TRUE(key_order(a.value, b.value) == expected)
            << to_json(a.value, JsonForm::kCanonical) << " and "
            << to_json(b.value, JsonForm::kCanonical);
        if (expected == 0 && a.value.type() != b.value.type()) ++equal;
      }
    }
  }
  EXPECT_GT(equal, random_rounds(100));  // otherwise the numbers were not close
}

}  // namespace
}  // namespace gridmount::bson
