#include "engine/query/expression/number_sum.h"

#include <cmath>
#include <limits>

#include "engine/query/decimal_arithmetic.h"

namespace gridmount::query::expressions {

using bson::Type;

void NumberSum::Compensated::add(double value) {
  plain += value;
  // Knuth's sum of two: the error is exact.
  const double total = sum + value;
  const double part = total - sum;
  error += (sum - (total - part)) + (value - part);
  sum = total;
}

void NumberSum::add(bson::ValueView number) {
  ++count_;
  switch (number.type()) {
    case Type::kInt32:
      integers_ += number.as_int32();
      break;
    case Type::kInt64:
      if (type_ == Type::kInt32) type_ = Type::kInt64;
      integers_ += number.as_int64();
      break;
    case Type::kDouble:
      if (type_ != Type::kDecimal128) type_ = Type::kDouble;
      doubles_.add(number.as_double());
      break;
    default:
      type_ = Type::kDecimal128;
      decimals_ = query::add(decimals_, number.as_decimal128());
  }
}

NumberSum::Compensated NumberSum::all() const {
  Compensated total = doubles_;
  // In pieces that are doubles exactly.
  constexpr int kPieceBits = 48;
  Signed128 rest = integers_;
  double scale = 1;
  while (rest != 0) {
    const Signed128 piece = rest % (Signed128{1} << kPieceBits);
    total.add(static_cast<double>(piece) * scale);
    rest = (rest - piece) >> kPieceBits;
    scale *= static_cast<double>(int64_t{1} << kPieceBits);
  }
  return total;
}

double NumberSum::as_double() const {
  const Compensated total = all();
  return std::isfinite(total.plain) ? total.sum + total.error : total.plain;
}

bson::Decimal128 NumberSum::as_decimal() const {
  if (const std::optional<int64_t> whole = as_int64()) {
    const bson::Value integers(*whole);
    const bson::Decimal128 sum = query::add(decimals_, to_decimal(integers));
    if (doubles_.plain == 0 && doubles_.sum == 0 && doubles_.error == 0) return sum;
  }
  const Compensated total = all();
  if (!std::isfinite(total.plain)) return query::add(decimals_, to_precise_decimal(total.plain));
  return query::add(decimals_,
                    query::add(to_precise_decimal(total.sum), to_precise_decimal(total.error)));
}

std::optional<int64_t> NumberSum::as_int64() const {
  if (integers_ < std::numeric_limits<int64_t>::min() ||
      integers_ > std::numeric_limits<int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(integers_);
}

}  // namespace gridmount::query::expressions
