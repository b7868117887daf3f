#include "engine/query/expression/number_from_text.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include "engine/query/decimal_arithmetic.h"

namespace gridmount::query::expressions {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

tl::unexpected<Error> refuse(std::string_view text, std::string_view reason) {
  return fail(ErrorCode::kConversionFailure,
              "Failed to parse number '" + std::string(text) +
                  "' in $convert with no onError value: " + std::string(reason));
}

Status refuse_hexadecimal(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return {};
  return fail(ErrorCode::kConversionFailure,
              "Illegal hexadecimal input in $convert with no onError value: " + std::string(text));
}

template <typename Number>
Result<Number> whole_from_text(std::string_view text) {
  GM_TRY(refuse_hexadecimal(text));
  const bool has_sign = text.starts_with('+') || text.starts_with('-');
  const std::string_view digits = text.substr(has_sign ? 1 : 0);
  if (digits.empty()) return refuse(text, "No digits");
  if (digits[0] < '0' || digits[0] > '9') return refuse(text, "Did not consume whole string.");
  // from_chars accepts '-' but not '+'.
  const std::string_view number = text.starts_with('-') ? text : digits;
  Number value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::result_out_of_range) return refuse(text, "Overflow");
  if (end != number.data() + number.size()) return refuse(text, "Did not consume whole string.");
  return value;
}

}  // namespace

Result<int32_t> int32_from_text(std::string_view text) {
  return whole_from_text<int32_t>(text);
}

Result<int64_t> int64_from_text(std::string_view text) {
  return whole_from_text<int64_t>(text);
}

Result<double> double_from_text(std::string_view text) {
  GM_TRY(refuse_hexadecimal(text));
  if (text.empty()) return refuse(text, "Empty string");
  if (is_space(text[0])) return refuse(text, "Leading whitespace");
  std::string_view number = text;
  if (number.starts_with('+')) {
    number.remove_prefix(1);
    if (number.starts_with('-')) return refuse(text, "Did not consume any digits");
  }
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::result_out_of_range) return refuse(text, "Out of range");
  if (error != std::errc()) return refuse(text, "Did not consume any digits");
  if (end != number.data() + number.size()) return refuse(text, "Did not consume whole string.");
  return value;
}

Result<bson::Decimal128> decimal128_from_text(std::string_view text) {
  GM_TRY(refuse_hexadecimal(text));
  if (text.empty()) return refuse(text, "Empty string");
  const std::optional<bson::Decimal128> value = decimal_from_text(text);
  if (!value) return refuse(text, "Failed to parse string to decimal");
  return *value;
}

}  // namespace gridmount::query::expressions
