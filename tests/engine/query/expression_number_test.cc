// Goal: expressions on numbers give MongoDB's values, types and errors.
// Method: tables.

#include <random>

#include "engine/bson/builder.h"
#include "tests/engine/query/expression_cases.h"

namespace gridmount::query {
namespace {

constexpr char kNumbers[] =
    "{'_id': 1, 'i': 7, 'l': L(5000000000), 'd': 2.5, 'm': D(1.50), 's': 'text', 'n': null,"
    " 'b': true, 't': T(2020-01-01T00:00:00Z), 'big': L(9223372036854775807),"
    " 'least': L(-9223372036854775808), 'i32': 2147483647, 'a': [1, 2.5, 'x', L(3), null],"
    " 'z': 0, 'nan': {'$numberDouble': 'NaN'}, 'inf': {'$numberDouble': 'Infinity'}}";

TEST(NumberExpressionTest, Arithmetic) {
  check_expressions(
      {{
          {"{'$add': ['$i', 1]}", "8"},
          {"{'$add': ['$i32', 1]}", "L(2147483648)"},
          {"{'$add': ['$big', 1]}", "9.2233720368547758e18"},
          {"{'$add': ['$i', L(1)]}", "L(8)"},
          {"{'$add': ['$i', 0.5]}", "7.5"},
          {"{'$add': ['$i', D(0.5)]}", "D(7.5)"},
          {"{'$add': [0.1, D(0.2)]}", "D(0.300000000000000)"},
          {"{'$add': []}", "0"},
          {"{'$add': '$i'}", "7"},
          {"{'$add': ['$i', '$none']}", "null"},
          {"{'$add': ['$i', null, 's']}", "null"},
          {"{'$add': ['$t', 1000]}", "T(2020-01-01T00:00:01Z)"},
          {"{'$add': [500, '$t', 500.4]}", "T(2020-01-01T00:00:01Z)"},
          {"{'$add': ['$t', '$t']}", "!16612 only one date allowed in an $add expression"},
          {"{'$add': ['$t', '$big']}", "!15 date overflow in $add"},
          // The sum is rounded once. A half is rounded towards zero, or to even if the sum is a
          // decimal.
          {"{'$toLong': {'$add': [T(1970-01-01T00:00:01Z), 2.5]}}", "L(1002)"},
          {"{'$toLong': {'$add': [T(1970-01-01T00:00:01Z), 3.5]}}", "L(1003)"},
          {"{'$toLong': {'$add': [T(1970-01-01T00:00:01Z), 2.51]}}", "L(1003)"},
          {"{'$toLong': {'$add': [T(1970-01-01T00:00:01Z), -1.5]}}", "L(998)"},
          {"{'$toLong': {'$add': [T(1970-01-01T00:00:01Z), -2.5]}}", "L(997)"},
          {"{'$toLong': {'$add': [T(1969-12-31T23:59:59.997Z), 0.5]}}", "L(-2)"},
          {"{'$toLong': {'$add': [0.5, T(1970-01-01T00:00:01Z), 0.5]}}", "L(1001)"},
          {"{'$toLong': {'$add': [T(1970-01-01T00:00:01Z), D(2.5)]}}", "L(1002)"},
          {"{'$toLong': {'$add': [T(1970-01-01T00:00:01Z), D(3.5)]}}", "L(1004)"},
          {"{'$toLong': {'$add': [D(0.5), T(1970-01-01T00:00:01Z), 0.5]}}", "L(1001)"},
          {"{'$toLong': {'$add': [T(1970-01-01T00:00:01Z), 9e18, 9e18, -9e18]}}",
           "L(9000000000000001000)"},
          {"{'$add': ['$t', 1e19]}", "!15 date overflow in $add"},
          {"{'$add': ['$i', '$s']}", "!14 $add only supports numeric or date types, not string"},
          {"{'$subtract': ['$i', 8]}", "-1"},
          {"{'$subtract': ['$least', 1]}", "-9.2233720368547758e18"},
          {"{'$subtract': [-2, '$i32']}", "L(-2147483649)"},
          {"{'$subtract': ['$d', '$i']}", "-4.5"},
          {"{'$subtract': ['$m', '$i']}", "D(-5.50)"},
          {"{'$subtract': ['$t', '$t']}", "L(0)"},
          {"{'$subtract': ['$t', 1000]}", "T(2019-12-31T23:59:59Z)"},
          {"{'$toLong': {'$subtract': [T(1970-01-01T00:00:01Z), 2.99]}}", "L(998)"},
          {"{'$toLong': {'$subtract': [T(1970-01-01T00:00:01Z), -2.99]}}", "L(1002)"},
          {"{'$toLong': {'$subtract': [T(1970-01-01T00:00:01Z), D(2.5)]}}", "L(998)"},
          {"{'$toLong': {'$subtract': [T(1970-01-01T00:00:01Z), D(3.5)]}}", "L(996)"},
          {"{'$add': [{'$toDate': '$big'}, 0.6]}", "!15 date overflow in $add"},
          {"{'$toLong': {'$add': [{'$toDate': '$big'}, 0.4]}}", "L(9223372036854775807)"},
          {"{'$add': [{'$toDate': '$least'}, -0.6]}", "!15 date overflow in $add"},
          {"{'$subtract': ['$t', 1e30]}", "!31109 Can't coerce out of range value 1e+30 to long"},
          {"{'$subtract': ['$t', D(1E30)]}", "!159 Cannot negate the minimum duration"},
          {"{'$subtract': ['$t', '$least']}", "!159 Cannot negate the minimum duration"},
          {"{'$subtract': [T(1969-12-31T23:59:59Z), '$big']}",
           "!159 Overflow while adding -9223372036854775807ms to -1000ms"},
          {"{'$subtract': ['$i', '$none']}", "null"},
          {"{'$subtract': ['$i', '$t']}", "!14 can't $subtract date from int"},
          {"{'$subtract': ['$i']}", "!16020 Expression $subtract takes exactly 2 arguments. 1"},
          {"{'$multiply': ['$i', 2]}", "14"},
          {"{'$multiply': ['$i32', 2]}", "L(4294967294)"},
          {"{'$multiply': ['$big', 2]}", "1.8446744073709552e19"},
          {"{'$multiply': ['$d', 2]}", "5.0"},
          {"{'$multiply': ['$m', 2]}", "D(3.00)"},
          {"{'$multiply': []}", "1"},
          {"{'$multiply': ['$i', '$n']}", "null"},
          {"{'$multiply': ['$i', '$t']}", "!14 $multiply only supports numeric types, not date"},
          {"{'$divide': ['$i', 2]}", "3.5"},
          {"{'$divide': [4, 2]}", "2.0"},
          {"{'$divide': ['$m', 2]}", "D(0.75)"},
          {"{'$divide': ['$i', 0]}", "!2 can't $divide by zero"},
          {"{'$divide': ['$i', D(0)]}", "!2 can't $divide by zero"},
          {"{'$divide': ['$i', '$n']}", "null"},
          {"{'$divide': ['$i', '$s']}",
           "!14 $divide only supports numeric types, not int and string"},
          {"{'$mod': ['$i', 4]}", "3"},
          {"{'$mod': [-7, 4]}", "-3"},
          {"{'$mod': ['$l', 7]}", "L(2)"},
          {"{'$mod': ['$d', 2]}", "0.5"},
          {"{'$mod': ['$i', 4.0]}", "3"},
          {"{'$mod': ['$i', 4.5]}", "2.5"},
          {"{'$mod': ['$least', -1]}", "L(0)"},
          {"{'$mod': ['$m', 1]}", "D(0.50)"},
          {"{'$mod': ['$i', 0]}", "!16610 can't $mod by zero"},
          {"{'$mod': ['$m', 0]}", "!5733415 can't $mod by zero"},
          {"{'$mod': [1, {'$toDecimal': 0}]}", "!5733415 can't $mod by zero"},
          {"{'$ln': {'$toDecimal': 'NaN'}}", "NaN"},
          {"{'$log': [{'$toDecimal': 'NaN'}, 2]}", "NaN"},
          {"{'$log10': {'$toDecimal': 'NaN'}}", "NaN"},
          {"{'$mod': ['$i', '$s']}", "!16611 $mod only supports numeric types, not int and string"},
          {"{'$mod': ['$n', '$s']}", "null"},
      }},
      kNumbers);
}

TEST(NumberExpressionTest, Functions) {
  check_expressions(
      {{
          {"{'$abs': -5}", "5"},
          {"{'$abs': -2147483648}", "L(2147483648)"},
          {"{'$abs': '$least'}", "!28680 can't take $abs of long long min"},
          {"{'$abs': -2.5}", "2.5"},
          {"{'$abs': D(-2.5)}", "D(2.5)"},
          {"{'$abs': '$none'}", "null"},
          {"{'$abs': '$s'}", "!28765 $abs only supports numeric types, not string"},
          {"{'$ceil': '$d'}", "3.0"},
          {"{'$ceil': '$i'}", "7"},
          {"{'$ceil': '$m'}", "D(2)"},
          {"{'$floor': '$d'}", "2.0"},
          {"{'$floor': -2.5}", "-3.0"},
          {"{'$floor': '$m'}", "D(1)"},
          {"{'$floor': '$l'}", "L(5000000000)"},
          {"{'$exp': 0}", "1.0"},
          {"{'$exp': D(0)}", "D(1)"},
          {"{'$sqrt': 16}", "4.0"},
          {"{'$sqrt': D(16)}", "D(4)"},
          {"{'$sqrt': -1}", "!28714 $sqrt's argument must be greater than or equal to 0"},
          {"{'$ln': 1}", "0.0"},
          {"{'$ln': 0}", "!28766 $ln's argument must be a positive number, but is 0"},
          {"{'$log10': 1000}", "3.0"},
          {"{'$log10': -1}", "!28761"},
          {"{'$log': [8, 2]}", "3.0"},
          {"{'$log': [8, 1]}", "!28759"},
          {"{'$log': [-8, 2]}", "!28758"},
          {"{'$log': ['$s', 2]}", "!28756"},
          {"{'$log': [2, '$s']}", "!28757"},
          {"{'$log': [2, '$n']}", "null"},
          {"{'$pow': ['$i', 2]}", "49"},
          {"{'$pow': ['$i', 20]}", "L(79792266297612001)"},
          {"{'$pow': ['$i', 40]}", "6.366805760909028e33"},
          {"{'$pow': [2, -1]}", "0.5"},
          {"{'$pow': [-1, L(3)]}", "L(-1)"},
          {"{'$pow': [0, -1]}", "!28764"},
          {"{'$pow': ['$d', 2]}", "6.25"},
          {"{'$pow': [D(2), 3]}", "D(8.000000000000000000000000000000000)"},
          {"{'$pow': ['$s', 2]}", "!28762"},
          {"{'$pow': [2, '$s']}", "!28763"},
          {"{'$round': '$d'}", "2.0"},
          {"{'$round': 3.5}", "4.0"},
          {"{'$round': [1.25, 1]}", "1.2"},
          {"{'$round': [1.235, 2]}", "1.24"},
          {"{'$round': [1250, -2]}", "1200"},
          {"{'$round': [L(1350), -2]}", "L(1400)"},
          {"{'$round': [D(1.235), 2]}", "D(1.24)"},
          {"{'$round': ['$big', -1]}", "!51080"},
          {"{'$round': ['$i', '$n']}", "null"},
          {"{'$round': ['$i', 200]}", "!51083"},
          {"{'$round': ['$i', 1.5]}", "!51082"},
          {"{'$round': ['$s', 1]}", "!51081 $round only supports numeric types, not string"},
          {"{'$round': '$inf'}", "{'$numberDouble': 'Infinity'}"},
          {"{'$trunc': [-7.85, 1]}", "-7.8"},
          {"{'$trunc': -7.85}", "-7.0"},
          {"{'$trunc': [1999, -3]}", "1000"},
          // More places than the number has digits.
          {"{'$trunc': [1.298, 100]}", "1.298"},
          {"{'$round': [1.298, 100]}", "1.298"},
          {"{'$round': [D(1.298), 100]}", "D(1.298000000000000000000000000000000)"},
          {"{'$trunc': [D(-1.298), 100]}", "D(-1.298000000000000000000000000000000)"},
          {"{'$round': D(1E+40)}", "D(1.000000000000000000000000000000000E+40)"},
          {"{'$floor': D(1E+40)}", "D(1.000000000000000000000000000000000E+40)"},
          {"{'$round': [D(0), 100]}", "D(0E-100)"},
          {"{'$trunc': [1, 2, 3]}", "!28667 at least 1 arguments, and at most 2, but 3"},
      }},
      kNumbers);
}

TEST(NumberExpressionTest, Bits) {
  check_expressions(
      {{
          {"{'$bitAnd': ['$i', 3]}", "3"},
          {"{'$bitAnd': []}", "-1"},
          {"{'$bitOr': ['$i', L(8)]}", "L(15)"},
          {"{'$bitOr': []}", "0"},
          {"{'$bitXor': [5, 3, 1]}", "7"},
          {"{'$bitXor': ['$i', '$none']}", "null"},
          {"{'$bitNot': '$i'}", "-8"},
          {"{'$bitNot': L(0)}", "L(-1)"},
          {"{'$bitNot': 1.5}", "!14"},
          {"{'$bitNot': 's'}", "!28765"},
          {"{'$bitAnd': ['$i', 1.0]}", "!14 $bitAnd only supports int and long operands."},
      }},
      kNumbers);
}

TEST(NumberExpressionTest, Accumulators) {
  check_expressions({{
                        {"{'$sum': '$a'}", "6.5"},
                        {"{'$sum': ['$i', '$l']}", "L(5000000007)"},
                        {"{'$sum': ['$i', '$m']}", "D(8.50)"},
                        {"{'$sum': [1.0, {'$numberDecimal': '0'}]}", "D(1)"},
                        {"{'$avg': [4.0, {'$numberDecimal': '6.0'}]}", "D(5.0)"},
                        {"{'$sum': ['$i', '$a']}", "7"},
                        {"{'$sum': '$none'}", "0"},
                        {"{'$sum': ['$big', 1]}", "9.2233720368547758e18"},
                        {"{'$sum': ['$i32', 1]}", "L(2147483648)"},
                        {"{'$avg': '$a'}", "2.1666666666666665"},
                        {"{'$avg': ['$s']}", "null"},
                        {"{'$avg': [D(1), 2]}", "D(1.5)"},
                        {"{'$min': '$a'}", "1"},
                        {"{'$max': '$a'}", "'x'"},
                        {"{'$max': ['$none', '$n']}", "null"},
                        {"{'$max': [1, [5]]}", "[5]"},
                        {"{'$stdDevPop': [1, 3]}", "1.0"},
                        {"{'$stdDevSamp': [1, 3]}", "1.4142135623730951"},
                        {"{'$stdDevSamp': [1]}", "null"},
                        {"{'$stdDevPop': []}", "null"},
                    }},
                    kNumbers);
}

TEST(NumberExpressionTest, Trigonometry) {
  check_expressions(
      {{
          {"{'$sin': 0}", "0.0"},
          {"{'$cos': '$z'}", "1.0"},
          {"{'$tan': 0}", "0.0"},
          {"{'$asin': 1}", "1.5707963267948966"},
          {"{'$acos': L(1)}", "0.0"},
          {"{'$atan': 1}", "0.7853981633974483"},
          {"{'$atan': '$inf'}", "1.5707963267948966"},
          {"{'$atan2': [1, 1]}", "0.7853981633974483"},
          {"{'$atan2': [D(1), 1]}", "D(0.7853981633974483096156608458198757)"},
          {"{'$atan2': ['$n', 's']}", "null"},
          {"{'$atan2': ['s', 1]}", "!51044"},
          {"{'$atan2': [1, 's']}", "!51045 $atan2 only supports numeric types, not string"},
          {"{'$sinh': 0}", "0.0"},
          {"{'$cosh': 0}", "1.0"},
          {"{'$tanh': 0}", "0.0"},
          {"{'$asinh': 0}", "0.0"},
          {"{'$acosh': 1}", "0.0"},
          {"{'$atanh': 1}", "{'$numberDouble': 'Infinity'}"},
          {"{'$acos': D(-1)}", "D(3.141592653589793238462643383279503)"},
          {"{'$sin': '$nan'}", "{'$numberDouble': 'NaN'}"},
          {"{'$sin': '$n'}", "null"},
          {"{'$sin': '$s'}", "!28765 $sin only supports numeric types, not string"},
          {"{'$sin': '$inf'}", "!50989 cannot apply $sin to inf, value must be in (-inf,inf)"},
          {"{'$asin': 2}", "!50989 cannot apply $asin to 2, value must be in [-1,1]"},
          {"{'$acosh': D(0.5)}", "!50989 cannot apply $acosh to 0.5, value must be in [1,inf]"},
          {"{'$atanh': -1.5}", "!50989"},
          {"{'$degreesToRadians': 180}", "3.141592653589793"},
          {"{'$radiansToDegrees': 3.141592653589793}", "180.0"},
          {"{'$degreesToRadians': D(90)}", "D(1.570796326794896619231321691639752)"},
          {"{'$degreesToRadians': 's'}", "!28765"},
      }},
      kNumbers);
}

TEST(NumberExpressionTest, Percentiles) {
  check_expressions(
      {{
          {"{'$median': {'input': [4, 1, 3, 2], 'method': 'approximate'}}", "2.0"},
          {"{'$median': {'input': '$a', 'method': 'approximate'}}", "2.5"},
          {"{'$median': {'input': '$i', 'method': 'approximate'}}", "7.0"},
          {"{'$median': {'input': '$none', 'method': 'approximate'}}", "null"},
          {"{'$percentile': {'input': [5, 1, 2, 4, 3], 'p': [0, 0.2, 0.21, 0.9, 1], 'method': "
           "'approximate'}}",
           "[1.0, 1.0, 2.0, 5.0, 5.0]"},
          {"{'$percentile': {'input': ['x'], 'p': [0.5, 1], 'method': 'approximate'}}",
           "[null, null]"},
          {"{'$percentile': {'input': 1, 'p': '$a', 'method': 'approximate'}}", "!7750300"},
          {"{'$percentile': {'input': 1, 'p': 0.5, 'method': 'approximate'}}", "!7750301"},
          {"{'$percentile': {'input': 1, 'p': ['x'], 'method': 'approximate'}}", "!7750302"},
          {"{'$percentile': {'input': 1, 'p': [2], 'method': 'approximate'}}", "!7750303"},
          {"{'$percentile': {'input': 1, 'p': [1], 'method': 'exact'}}", "!2 Currently only"},
          {"{'$percentile': {'input': 1, 'p': [1], 'method': 1}}", "!14"},
          {"{'$percentile': {'input': 1, 'method': 'approximate'}}",
           "!40414 BSON field '$percentile.p' is missing but a required field"},
          {"{'$median': {'input': 1}}", "!40414 BSON field '$median.method' is missing"},
          {"{'$median': {'input': 1, 'p': 1}}", "!40415 BSON field '$median.p' is an unknown"},
          {"{'$median': 1}", "!7436201"},
          {"{'$percentile': 1}", "!7436200"},
      }},
      kNumbers);
}

// The sums are of random integers. The model adds in 128 bits.
TEST(NumberExpressionTest, RandomSumsOfIntegersAreExact) {
  std::mt19937_64 random(20200229);
  for (int round = 0; round < 300; ++round) {
    bson::Builder builder;
    builder.open_array("a");
    __extension__ __int128 total = 0;
    bool has_long = false;
    const int count = static_cast<int>(random() % 20);
    for (int i = 0; i < count; ++i) {
      const bool is_long = random() % 2 == 0;
      const auto value = static_cast<int64_t>(random()) >> (is_long ? random() % 64 : 32);
      has_long = has_long || is_long;
      total += value;
      builder.push(is_long ? bson::Value(value) : bson::Value(static_cast<int32_t>(value)));
    }
    const bson::Document document = std::move(builder.close()).finish();
    const std::string found =
        evaluate_to_text(*parse_json("{'x': {'$sum': '$a'}}").find("x"), document);
    std::string expected;
    const auto whole = static_cast<int64_t>(total);
    if (whole != total) {
      EXPECT_TRUE(found.starts_with("{ '$numberDouble'")) << found << " in round " << round;
      continue;
    }
    const bson::Value value = has_long || static_cast<int32_t>(whole) != whole
                                  ? bson::Value(whole)
                                  : bson::Value(static_cast<int32_t>(whole));
    expected = bson::to_json(value, bson::JsonForm::kCanonical);
    std::replace(expected.begin(), expected.end(), '"', '\'');
    EXPECT_EQ(found, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace gridmount::query
