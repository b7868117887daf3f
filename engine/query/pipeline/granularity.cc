#include "engine/query/pipeline/granularity.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/number.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

// The series as the server has them. The server leaves out some numbers of R40 and R80.
constexpr int16_t kR5[] = {10, 16, 25, 40, 63};
constexpr int16_t kR10[] = {100, 125, 160, 200, 250, 315, 400, 500, 630, 800};
constexpr int16_t kR20[] = {100, 112, 125, 140, 160, 180, 200, 224, 250, 280,
                            315, 355, 400, 450, 500, 560, 630, 710, 800, 900};
constexpr int16_t kR40[] = {100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200,
                            212, 224, 236, 250, 265, 280, 300, 315, 355, 375, 400, 425, 450,
                            475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950};
constexpr int16_t kR80[] = {103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218,
                            230, 243, 258, 272, 290, 307, 325, 345, 365, 387, 412, 437, 462, 487,
                            515, 545, 575, 615, 650, 690, 730, 775, 825, 875, 925, 975};
constexpr int16_t k125[] = {10, 20, 50};
constexpr int16_t kE6[] = {10, 15, 22, 33, 47, 68};
constexpr int16_t kE12[] = {10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82};
constexpr int16_t kE24[] = {10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30,
                            33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91};
constexpr int16_t kE48[] = {100, 105, 110, 115, 121, 127, 133, 140, 147, 154, 162, 169,
                            178, 187, 196, 205, 215, 226, 237, 249, 261, 274, 287, 301,
                            316, 332, 348, 365, 383, 402, 422, 442, 464, 487, 511, 536,
                            562, 590, 619, 649, 681, 715, 750, 787, 825, 866, 909, 953};
constexpr int16_t kE96[] = {100, 102, 105, 107, 110, 113, 115, 118, 121, 124, 127, 130, 133, 137,
                            140, 143, 147, 150, 154, 158, 162, 165, 169, 174, 178, 182, 187, 191,
                            196, 200, 205, 210, 215, 221, 226, 232, 237, 243, 249, 255, 261, 267,
                            274, 280, 287, 294, 301, 309, 316, 324, 332, 340, 348, 357, 365, 374,
                            383, 392, 402, 412, 422, 432, 442, 453, 464, 475, 487, 499, 511, 523,
                            536, 549, 562, 576, 590, 604, 619, 634, 649, 665, 681, 698, 715, 732,
                            750, 768, 787, 806, 825, 845, 866, 887, 909, 931, 953, 976};
constexpr int16_t kE192[] = {
    100, 101, 102, 104, 105, 106, 107, 109, 110, 111, 113, 114, 115, 117, 118, 120, 121, 123,
    124, 126, 127, 129, 130, 132, 133, 135, 137, 138, 140, 142, 143, 145, 147, 149, 150, 152,
    154, 156, 158, 160, 162, 164, 165, 167, 169, 172, 174, 176, 178, 180, 182, 184, 187, 189,
    191, 193, 196, 198, 200, 203, 205, 208, 210, 213, 215, 218, 221, 223, 226, 229, 232, 234,
    237, 240, 243, 246, 249, 252, 255, 258, 261, 264, 267, 271, 274, 277, 280, 284, 287, 291,
    294, 298, 301, 305, 309, 312, 316, 320, 324, 328, 332, 336, 340, 344, 348, 352, 357, 361,
    365, 370, 374, 379, 383, 388, 392, 397, 402, 407, 412, 417, 422, 427, 432, 437, 442, 448,
    453, 459, 464, 470, 475, 481, 487, 493, 499, 505, 511, 517, 523, 530, 536, 542, 549, 556,
    562, 569, 576, 583, 590, 597, 604, 612, 619, 626, 634, 642, 649, 657, 665, 673, 681, 690,
    698, 706, 715, 723, 732, 741, 750, 759, 768, 777, 787, 796, 806, 816, 825, 835, 845, 856,
    866, 876, 887, 898, 909, 920, 931, 942, 953, 965, 976, 988};

constexpr std::pair<std::string_view, std::span<const int16_t>> kSeries[] = {
    {"1-2-5", k125}, {"E12", kE12}, {"E192", kE192},   {"E24", kE24}, {"E48", kE48},
    {"E6", kE6},     {"E96", kE96}, {"POWERSOF2", {}}, {"R10", kR10}, {"R20", kR20},
    {"R40", kR40},   {"R5", kR5},   {"R80", kR80},
};

constexpr int kDecimalExponentMin = -6176;
constexpr int kDecimalExponentMax = 6111;
constexpr int kDoubleExponentMin = -330;
constexpr int kDoubleExponentMax = 308;

// Returns `base` times ten to the power of `exponent`.
Value scaled(int16_t base, int exponent, bool as_decimal) {
  if (!as_decimal) {
    // Parsing the decimal text gives the nearest double.
    const std::string text = std::to_string(base) + "e" + std::to_string(exponent);
    return Value(std::strtod(text.c_str(), nullptr));
  }
  const auto biased = static_cast<uint64_t>(exponent - kDecimalExponentMin);
  bson::Builder holder;
  holder.append("", bson::Decimal128{biased << 49, static_cast<uint64_t>(base)});
  return Value(std::move(holder).finish().view()[""]);
}

// Returns the nearest power of two that is greater, or less, than the number. Like $pow of two
// integers, the result is an integer if possible.
Value power_of_two(double number, bool up) {
  const double exponent = up ? std::floor(std::log2(number)) + 1 : std::ceil(std::log2(number)) - 1;
  if (exponent >= 0 && exponent < 31) return Value(int32_t{1} << static_cast<int>(exponent));
  if (exponent >= 31 && exponent < 63) return Value(int64_t{1} << static_cast<int>(exponent));
  return Value(std::exp2(exponent));
}

}  // namespace

Result<Granularity> Granularity::find(std::string_view name) {
  for (const auto& [known, series] : kSeries) {
    if (known == name) return Granularity(series);
  }
  return fail(ErrorCode{40257}, "Unknown rounding granularity '" + std::string(name) + "'");
}

Value Granularity::round(ValueView number, bool up) const {
  const double nearest = number.number().value_or(0);
  const bool as_decimal = number.type() == Type::kDecimal128;
  const bool is_zero = bson::compare_numbers(number, Value(0.0).view()) == 0;
  if (is_zero || (std::isinf(nearest) && !as_decimal)) return Value(number);
  if (series_.empty()) return power_of_two(nearest, up);
  // Find the last decade in which the first number of the series is below `number`. The logarithm
  // only gives a decade to begin with.
  const int least = as_decimal ? kDecimalExponentMin : kDoubleExponentMin;
  const int most = as_decimal ? kDecimalExponentMax : kDoubleExponentMax;
  const double magnitude = std::isfinite(nearest) && nearest > 0 ? std::log10(nearest) : 0;
  int exponent = std::clamp(static_cast<int>(std::floor(magnitude)) - 4, least, most);
  const auto compare = [&](size_t at, int decade) {
    return bson::compare_numbers(number, scaled(series_[at], decade, as_decimal).view());
  };
  // A decimal beyond the series stays as it is, as on servers.
  if (as_decimal && (compare(0, least) <= 0 || compare(series_.size() - 1, most) >= 0)) {
    return Value(number);
  }
  while (exponent > least && compare(0, exponent) <= 0) --exponent;
  while (exponent < most && compare(0, exponent + 1) > 0) ++exponent;
  // Now first(exponent) < number <= first(exponent + 1).
  if (up) {
    for (size_t i = 0; i < series_.size(); ++i) {
      if (compare(i, exponent) < 0) return scaled(series_[i], exponent, as_decimal);
    }
    return compare(0, exponent + 1) < 0 ? scaled(series_[0], exponent + 1, as_decimal)
                                        : scaled(series_[1], exponent + 1, as_decimal);
  }
  for (size_t i = series_.size(); i > 0; --i) {
    if (compare(i - 1, exponent) > 0) return scaled(series_[i - 1], exponent, as_decimal);
  }
  return scaled(series_.back(), exponent - 1, as_decimal);
}

}  // namespace gridmount::query
