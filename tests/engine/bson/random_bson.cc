#include "tests/engine/bson/random_bson.h"

#include <bson/bson.h>

#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace gridmount::bson {

uint64_t test_seed() {
  const char* given = getenv("GRIDMOUNT_TEST_SEED");
  return given != nullptr ? strtoull(given, nullptr, 10) : std::random_device()();
}

Decimal128 decimal(const std::string& text) {
  bson_decimal128_t parsed;
  if (!bson_decimal128_from_string(text.c_str(), &parsed)) {
    throw std::invalid_argument("no decimal: " + text);
  }
  return {parsed.high, parsed.low};
}

Value decimal_value(const std::string& text) {
  Builder builder;
  builder.append("", decimal(text));
  const Document document = std::move(builder).finish();
  return Value((*document.view().begin()).value);
}

Value RandomBson::number() {
  static const double kDoubles[] = {0.0,
                                    -0.0,
                                    1.0,
                                    -1.0,
                                    0.1,
                                    1.5,
                                    0x1p53,
                                    0x1p53 + 2,
                                    0x1p63,
                                    -0x1p63,
                                    9.2e18,
                                    5e-324,
                                    -5e-324,
                                    1e308,
                                    std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
  static const int64_t kIntegers[] = {0,
                                      1,
                                      -1,
                                      2,
                                      (int64_t{1} << 53) - 1,
                                      (int64_t{1} << 53),
                                      (int64_t{1} << 53) + 1,
                                      -(int64_t{1} << 53) - 1,
                                      std::numeric_limits<int64_t>::max(),
                                      std::numeric_limits<int64_t>::max() - 1,
                                      std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::min() + 1};
  static const char* const kDecimals[] = {"0",
                                          "-0",
                                          "1",
                                          "1.0",
                                          "1.00",
                                          "-1",
                                          "0.1",
                                          "0.1000000000000000055511151231257827",
                                          "1.5",
                                          "9007199254740993",
                                          "9007199254740993.5",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "-9223372036854775809",
                                          "1E-400",
                                          "-1E-400",
                                          "1E+400",
                                          "-1E+400",
                                          "1E-6176",
                                          "9.999999999999999999999999999999999E+6144",
                                          "NaN",
                                          "Infinity",
                                          "-Infinity"};
  switch (index(5)) {
    case 0:
      return Value(kDoubles[index(std::size(kDoubles))]);
    case 1:
      return Value(kIntegers[index(std::size(kIntegers))]);
    case 2:
      return decimal_value(kDecimals[index(std::size(kDecimals))]);
    case 3:
      return Value(static_cast<int32_t>(index(5)) - 2);
    default:
      return Value(static_cast<int64_t>(random_()));
  }
}

std::string RandomBson::text() {
  static const std::string kParts[] = {"",  "a", "b", "\xC3\xA4", "\xFF", std::string(1, '\0'),
                                       "aa"};
  std::string text;
  for (size_t i = index(4); i > 0; --i) text += kParts[index(std::size(kParts))];
  return text;
}

Value RandomBson::value(int depth) {
  Builder builder;
  switch (index(depth > 0 ? 22 : 16)) {
    case 0:
      return Value();
    case 1:
      return Value::min_key();
    case 2:
      return Value::max_key();
    case 3:
      return Value(ValueView(Type::kUndefined, nullptr, 0));
    case 4:
      return Value(chance(2));
    case 5:
      return Value(Date{static_cast<int64_t>(index(5)) - 2});
    case 6: {
      ObjectId::Bytes bytes{};
      bytes[index(12)] = static_cast<uint8_t>(index(256));
      return Value(ObjectId(bytes));
    }
    case 7: {
      const std::string bytes = text();
      builder.append(
          "", Binary{static_cast<uint8_t>(index(6)), reinterpret_cast<const uint8_t*>(bytes.data()),
                     static_cast<uint32_t>(bytes.size())});
      break;
    }
    case 8:
      builder.append("",
                     Timestamp{static_cast<uint32_t>(index(3)), static_cast<uint32_t>(index(3))});
      break;
    case 9:
      builder.append_regex("", chance(2) ? "a" : "^ab", chance(2) ? "" : "i");
      break;
    case 10: {
      const Value symbol(text());
      return Value(ValueView(chance(2) ? Type::kSymbol : Type::kCode, symbol.view().data(),
                             symbol.view().size()));
    }
    case 11:
    case 12:
      return Value(text());
    case 13:
    case 14:
    case 15:
      return number();
    case 16:
    case 17:
    case 18:
      return Value(document(depth - 1));
    default:
      return Value::array(array(depth - 1));
  }
  const Document document = std::move(builder).finish();
  return Value((*document.view().begin()).value);
}

Document RandomBson::document(int depth) {
  Builder builder;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    if (chance(2)) builder.append(name, value(depth));
  }
  return std::move(builder).finish();
}

Document RandomBson::array(int depth) {
  Builder builder;
  for (size_t i = 0, count = index(4); i < count; ++i) {
    builder.append(std::to_string(i), value(depth));
  }
  return std::move(builder).finish();
}

}  // namespace gridmount::bson
