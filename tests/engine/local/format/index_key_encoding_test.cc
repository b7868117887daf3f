// Goal: index keys have the order of their values.
// Method: for random values, memcmp on the encodings must be equal to bson::compare on the values,
// reversed for descending parts.

#include "engine/local/format/index_key_encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "tests/sanitized.h"

namespace gridmount::local {
namespace {

std::string encoded(bson::ValueView value, bool descending = false) {
  std::string out;
  bson::append_key_string(out, value, descending);
  return out;
}

int sign(std::weak_ordering order) {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}
int sign(const std::string& a, const std::string& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

bson::Value from_json(const std::string& text) {
  const Result<bson::Document> document = bson::document_from_json(R"({"v": )" + text + "}");
  if (!document) {
    ADD_FAILURE() << text << ": " << document.error().message();
    return bson::Value();
  }
  return bson::Value(document->view()["v"]);
}

class RandomValues {
 public:
  explicit RandomValues(uint64_t seed) : random_(seed) {}

  bson::Value any(int depth = 0) {
    static const std::vector<std::string> kFixed = {
        R"(null)",
        R"({"$undefined": true})",
        R"({"$minKey": 1})",
        R"({"$maxKey": 1})",
        R"(true)",
        R"(false)",
        R"({"$symbol": "ab"})",
        R"({"$code": "ab"})",
        R"({"$code": "b"})",
        R"({"$oid": "000000000000000000000001"})",
        R"({"$oid": "ff0000000000000000000000"})",
        R"({"$timestamp": {"t": 1, "i": 4294967295}})",
        R"({"$timestamp": {"t": 4294967295, "i": 0}})",
        R"({"$timestamp": {"t": 2, "i": 0}})",
        R"({"$regularExpression": {"pattern": "a", "options": "i"}})",
        R"({"$regularExpression": {"pattern": "ab", "options": ""}})",
        R"({"$regularExpression": {"pattern": "a", "options": ""}})",
        R"({"$binary": {"base64": "", "subType": "00"}})",
        R"({"$binary": {"base64": "AAEC", "subType": "00"}})",
        R"({"$binary": {"base64": "AAEC", "subType": "80"}})",
        R"({"$binary": {"base64": "/w==", "subType": "00"}})",
        R"({"$binary": {"base64": "AAE=", "subType": "05"}})"};
    switch (below(depth < 3 ? 8 : 6)) {
      case 0:
        return from_json(kFixed[below(kFixed.size())]);
      case 1:
        return bson::Value(text());
      case 2:
        return bson::Value(bson::Date{integer()});
      case 6:
        return bson::Value(elements(depth, false).view());
      case 7:
        return bson::Value::array(elements(depth, true));
      default:
        return number();
    }
  }

  bson::Value number() {
    static const std::vector<double> kDoubles = {0.0,
                                                 -0.0,
                                                 0.1,
                                                 -0.1,
                                                 0.5,
                                                 1e300,
                                                 -1e300,
                                                 5e-324,
                                                 -5e-324,
                                                 9007199254740992.0,
                                                 9007199254740994.0,
                                                 -9007199254740992.0,
                                                 9223372036854775808.0,
                                                 -9223372036854775808.0,
                                                 std::numeric_limits<double>::infinity(),
                                                 -std::numeric_limits<double>::infinity(),
                                                 std::numeric_limits<double>::quiet_NaN(),
                                                 std::numeric_limits<double>::max(),
                                                 std::numeric_limits<double>::lowest()};
    static const std::vector<std::string> kDecimals = {"0",
                                                       "-0E+10",
                                                       "0.1",
                                                       "-0.1",
                                                       "0.10000000000000000555",
                                                       "0.1000000000000000055511151231257827",
                                                       "0.5",
                                                       "1E-6176",
                                                       "-1E-6176",
                                                       "9.999999999999999999999999999999999E+6144",
                                                       "-9.999999999999999999999999999999999E+6144",
                                                       "9007199254740993",
                                                       "9007199254740992.5",
                                                       "-9007199254740992.5",
                                                       "9007199254740992.50",
                                                       "9223372036854775807",
                                                       "9223372036854775807.5",
                                                       "-9223372036854775808",
                                                       "1E+300",
                                                       "1.0E+300",
                                                       "NaN",
                                                       "Infinity",
                                                       "-Infinity",
                                                       "5E-324"};
    switch (below(6)) {
      case 0:
        return bson::Value(static_cast<int32_t>(integer()));
      case 1:
        return bson::Value(integer());
      case 2:
        return bson::Value(kDoubles[below(kDoubles.size())]);
      case 3:
        return bson::Value(static_cast<double>(integer()) / static_cast<double>(1 + below(8)));
      case 4:
        return from_json(R"({"$numberDecimal": ")" + kDecimals[below(kDecimals.size())] + R"("})");
      default: {
        const std::string digits = std::to_string(integer());
        const int exponent = static_cast<int>(below(40)) - 20;
        return from_json(R"({"$numberDecimal": ")" + digits + "E" + std::to_string(exponent) +
                         R"("})");
      }
    }
  }

  int64_t integer() {
    static const std::vector<int64_t> kIntegers = {0,
                                                   1,
                                                   -1,
                                                   5,
                                                   256,
                                                   9007199254740991,
                                                   9007199254740992,
                                                   9007199254740993,
                                                   -9007199254740993,
                                                   9007199254740995,
                                                   std::numeric_limits<int64_t>::max(),
                                                   std::numeric_limits<int64_t>::max() - 1,
                                                   std::numeric_limits<int64_t>::min(),
                                                   std::numeric_limits<int64_t>::min() + 1};
    if (below(2) == 0) return kIntegers[below(kIntegers.size())];
    return static_cast<int64_t>(random_()) >> below(64);
  }

  std::string text() {
    static const std::string kAlphabet("\0\1\2ab\x7F\x80\xFF", 8);
    std::string text;
    for (size_t i = below(5); i > 0; --i) text.push_back(kAlphabet[below(kAlphabet.size())]);
    return text;
  }

  size_t below(size_t bound) { return random_() % bound; }

 private:
  bson::Document elements(int depth, bool array) {
    static const std::vector<std::string> kNames = {"", "a", "ab", "b"};
    bson::Builder builder;
    const size_t count = below(4);
    for (size_t i = 0; i < count; ++i) {
      builder.append(array ? std::to_string(i) : kNames[below(kNames.size())], any(depth + 1));
    }
    return std::move(builder).finish();
  }

  std::mt19937_64 random_;
};

uint64_t chosen_seed() {
  const char* given = std::getenv("GRIDMOUNT_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device()();
  std::cout << "GRIDMOUNT_SEED=" << seed << std::endl;
  return seed;
}

void expect_same_order(const bson::Value& a, const bson::Value& b) {
  const int expected = sign(bson::compare(a, b));
  ASSERT_EQ(sign(encoded(a), encoded(b)), expected)
      << bson::to_json(a, bson::JsonForm::kCanonical) << " and "
      << bson::to_json(b, bson::JsonForm::kCanonical);
  ASSERT_EQ(sign(encoded(a, true), encoded(b, true)), -expected)
      << bson::to_json(a, bson::JsonForm::kCanonical) << " and "
      << bson::to_json(b, bson::JsonForm::kCanonical);
}

TEST(IndexKey, RandomValues_CompareAsTheirEncodings) {
  RandomValues values(chosen_seed());
  for (int i = 0; i < random_rounds(100'000); ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_same_order(values.any(), values.any()));
  }
}

TEST(IndexKey, RandomNumbers_CompareAsTheirEncodings) {
  RandomValues values(chosen_seed());
  for (int i = 0; i < random_rounds(100'000); ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_same_order(values.number(), values.number()));
  }
}

TEST(IndexKey, NoEncodingIsAPrefixOfAnother) {
  RandomValues values(chosen_seed());
  for (int i = 0; i < random_rounds(100'000); ++i) {
    const bson::Value a = values.any();
    const bson::Value b = values.any();
    for (const bool descending : {false, true}) {
      const std::string x = encoded(a, descending);
      const std::string y = encoded(b, descending);
      ASSERT_FALSE(x != y && y.starts_with(x))
          << bson::to_json(a, bson::JsonForm::kCanonical) << " and "
          << bson::to_json(b, bson::JsonForm::kCanonical);
      ASSERT_NE(x[0], '\x00');
      ASSERT_NE(x[0], '\xFF');
    }
  }
}

TEST(IndexKey, CompoundKeys_CompareByTheirPartsAndDirections) {
  RandomValues values(chosen_seed());
  for (int i = 0; i < random_rounds(100'000); ++i) {
    const bool descending[2] = {values.below(2) == 0, values.below(2) == 0};
    const bson::Value a[2] = {values.any(), values.any()};
    // The first part is often equal, so that the second decides.
    const bson::Value b[2] = {values.below(2) == 0 ? a[0] : values.any(), values.any()};
    int expected = 0;
    std::string x;
    std::string y;
    for (int part = 0; part < 2; ++part) {
      bson::append_key_string(x, a[part], descending[part]);
      bson::append_key_string(y, b[part], descending[part]);
      if (expected == 0) {
        expected = sign(bson::compare(a[part], b[part])) * (descending[part] ? -1 : 1);
      }
    }
    ASSERT_EQ(sign(x, y), expected);
  }
}

TEST(IndexKey, EncodedSize_FindsTheEndOfTheFirstValue) {
  RandomValues values(chosen_seed());
  for (int i = 0; i < random_rounds(20'000); ++i) {
    for (const bool descending : {false, true}) {
      const std::string first = encoded(values.any(), descending);
      const std::string second = encoded(values.any(), !descending);
      ASSERT_EQ(bson::key_string_size(first + second, descending), first.size());
      for (size_t cut = 0; cut < first.size(); ++cut) {
        ASSERT_EQ(bson::key_string_size(std::string_view(first).substr(0, cut), descending),
                  std::nullopt);
      }
    }
  }
}

TEST(IndexKey, Missing_IsNull_EmptyArrayIsUndefined) {
  std::string missing;
  append_encoded_missing(missing, false);
  EXPECT_EQ(missing, encoded(bson::Value()));
  std::string empty;
  append_encoded_empty_array(empty, true);
  EXPECT_EQ(empty, encoded(from_json(R"({"$undefined": true})"), true));
}

TEST(IndexKey, LongKeys_AreShortenedAndToldApart) {
  std::string fits(kEncodedBytesMax, 'x');
  EXPECT_FALSE(truncate_encoding(fits));
  EXPECT_EQ(fits.size(), kEncodedBytesMax);

  std::string a = "prefix" + std::string(1000, 'x') + "a";
  std::string b = "prefix" + std::string(1000, 'x') + "b";
  EXPECT_TRUE(truncate_encoding(a, 6));
  EXPECT_TRUE(truncate_encoding(b, 6));
  EXPECT_EQ(a.size(), 6 + kEncodedBytesMax + 1 + 16);
  EXPECT_TRUE(is_truncated(std::string_view(a).substr(6)));
  EXPECT_EQ(a.substr(0, 6 + kEncodedBytesMax + 1), b.substr(0, 6 + kEncodedBytesMax + 1));
  EXPECT_NE(a, b);
  // With a keyspace prefix and a record id a key has at most the length that LMDB allows.
  EXPECT_LE(4 + kEncodedBytesMax + 1 + 16 + 8, 511u);
}

// The example bytes of FORMAT.md.
TEST(IndexKey, Bytes_AreThoseOfTheFormat) {
  EXPECT_EQ(encoded(bson::Value("a")), std::string("\x18"
                                                   "a\0",
                                                   3));
  EXPECT_EQ(encoded(bson::Value("a"), true), std::string("\xE7\x9E\xFF", 3));
  EXPECT_EQ(encoded(bson::Value(int32_t{1})), std::string("\x10\xBF\xF0\0\0\0\0\0\0\0", 10));
  EXPECT_EQ(encoded(bson::Value(int64_t{1})), encoded(bson::Value(1.0)));
  EXPECT_EQ(encoded(bson::Value(bson::Date{1})), std::string("\x48\x80\0\0\0\0\0\0\1", 9));
}

}  // namespace
}  // namespace gridmount::local
