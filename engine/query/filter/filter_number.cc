#include "engine/query/filter/filter_number.h"

#include <cmath>
#include <optional>

#include "engine/bson/text.h"
#include "engine/query/decimal_arithmetic.h"

namespace gridmount::query {
bool is_multiple(bson::ValueView number, bson::ValueView divisor) {
  const std::optional<int64_t> whole = number.integral();
  const std::optional<int64_t> whole_divisor = divisor.integral();
  if (whole && whole_divisor && *whole_divisor > 0) return *whole % *whole_divisor == 0;
  return is_zero(modulo(to_decimal(number), to_decimal(divisor)));
}

std::string show_operand(std::string_view name, bson::ValueView value) {
  constexpr size_t kShownBytesMax = 200;
  std::string text = bson::to_text(value);
  if (text.size() > kShownBytesMax) {
    // Do not cut within a character.
    size_t end = kShownBytesMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    text += "...";
  }
  return std::string(name) + ": " + text;
}

Result<int64_t> integer(std::string_view name, bson::ValueView value) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kFailedToParse, std::string(why) + ": " + show_operand(name, value));
  };
  if (!value.is_number()) return refuse("Expected a number in");
  if (const std::optional<int64_t> number = value.integral()) return *number;
  const double number = value.number().value_or(0);
  if (std::isnan(number)) return refuse("Expected an integer, but found NaN in");
  if (value.type() == bson::Type::kDouble && number >= -0x1p63 && number < 0x1p63) {
    return refuse("Expected an integer");
  }
  return refuse("Cannot represent as a 64-bit integer");
}

Result<int64_t> non_negative_integer(std::string_view name, bson::ValueView value) {
  GM_ASSIGN(const int64_t number, integer(name, value));
  if (number < 0) {
    return fail(ErrorCode::kFailedToParse,
                "Expected a non-negative number in: " + show_operand(name, value));
  }
  return number;
}

}  // namespace gridmount::query
